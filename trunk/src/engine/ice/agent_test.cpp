#include "engine/ice/agent.hpp"

#include <gtest/gtest.h>

#include "engine/crypto/hmac_sha1.hpp"
#include "wire/stun/crc32.hpp"

namespace live::engine::ice {
namespace {

using StunKind = wire::stun::Kind;
using wire::stun::MessageWriter;
using wire::stun::parse_message;
using Octets = std::vector<std::uint8_t>;
using enum Agent::Outcome;

constexpr std::string_view kPwd = "abcdefghijklmnopqrstuvwxyz012345";
constexpr wire::stun::TransactionId kTransaction{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TransportAddress at(int last, std::uint16_t port = 5'000) { return {parse_ip("192.0.2." + std::to_string(last)).value(), port}; }

struct Check {
    std::string_view username = "serv:clie";
    std::string_view pwd = kPwd;
    bool nominates = false;
    bool is_controlled = false;
    bool has_fingerprint = true;
    bool is_signed = true;

    Octets bytes() const {
        MessageWriter out(StunKind::request, kTransaction);
        out.username(username).priority(1);
        if (nominates)
            out.use_candidate();
        if (is_controlled)
            out.ice_controlled(7);
        else
            out.ice_controlling(7);
        if (is_signed) {
            EXPECT_TRUE(out.sign(as_bytes(pwd), crypto::hmac_sha1).ok());
        }
        if (has_fingerprint)
            out.fingerprint();
        return out.release();
    }
};

class IceAgent : public testing::Test {
protected:
    Agent::Reply receive(const Octets& bytes, const TransportAddress& from) {
        const auto message = parse_message(bytes);
        EXPECT_TRUE(message.ok());
        auto reply = agent.handle_stun(now, bytes, *message, from);
        EXPECT_TRUE(reply.ok());
        return std::move(*reply);
    }
    Agent::Outcome check(const Check& check, const TransportAddress& from) { return receive(check.bytes(), from).outcome; }

    TimePoint now{1h};
    Agent agent{{.local_ufrag = "serv", .local_pwd = std::string(kPwd), .remote_ufrag = "clie", .remote_pwd = "client's"}, now};

    // The client's answer to our check that is due.
    Octets answer_to(const Agent::OwnCheck& own, std::string_view pwd = "client's") {
        MessageWriter out(StunKind::success, parse_message(own.bytes)->transaction);
        out.xor_mapped_address(at(200));
        EXPECT_TRUE(out.sign(as_bytes(pwd), crypto::hmac_sha1).ok());
        return out.fingerprint().release();
    }
    std::optional<Agent::OwnCheck> poll() { return agent.poll(now).value(); }
};

TEST_F(IceAgent, AnswersACheckWithWhereItCameFrom) {
    const auto reply = receive(Check{}.bytes(), at(1));
    EXPECT_EQ(reply.outcome, newly_checked);
    const auto answer = parse_message(reply.bytes);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->kind, StunKind::success);
    EXPECT_EQ(answer->transaction, kTransaction);
    EXPECT_EQ(answer->xor_mapped_address, at(1));
    EXPECT_TRUE(answer->has_fingerprint);
    EXPECT_TRUE(wire::stun::has_integrity(reply.bytes, *answer, as_bytes(kPwd), crypto::hmac_sha1).value());
    EXPECT_LE(reply.bytes.size(), Check{}.bytes().size()) << "nobody can make us send more than was sent to us";
}

TEST_F(IceAgent, IgnoresUnauthenticatedChecks) {
    const Check cases[] = {{.username = "serv:other"}, {.username = "other:clie"}, {.username = "serv"}, {.username = "servclie"},
                           {.pwd = "wrong"},           {.has_fingerprint = false}, {.is_signed = false}};
    now += 10s;
    for (Check wrong : cases) {
        wrong.nominates = true;
        const auto reply = receive(wrong.bytes(), at(1));
        EXPECT_EQ(reply.outcome, ignored);
        EXPECT_TRUE(reply.bytes.empty());
    }
    EXPECT_FALSE(agent.selected());
    EXPECT_FALSE(agent.is_checked(at(1)));
    EXPECT_EQ(agent.next_timeout(), now + 20s);
}

TEST_F(IceAgent, OtherKindsAreIgnored) {
    for (const StunKind kind : {StunKind::indication, StunKind::success, StunKind::error}) {
        MessageWriter out(kind, kTransaction);
        out.username("serv:clie");
        ASSERT_TRUE(out.sign(as_bytes(kPwd), crypto::hmac_sha1).ok());
        EXPECT_EQ(receive(out.fingerprint().release(), at(1)).outcome, ignored);
    }
    EXPECT_EQ(agent.addresses(), 0U);
}

TEST_F(IceAgent, TheHandshakeFollowsTheNominatedPair) {
    EXPECT_EQ(check({}, at(1)), newly_checked);
    EXPECT_EQ(agent.selected(), at(1)) << "DTLS may begin";
    EXPECT_EQ(check({}, at(2)), newly_checked);
    EXPECT_EQ(agent.selected(), at(1)) << "not the latest";
    EXPECT_EQ(check({.nominates = true}, at(2)), nominated);
    EXPECT_EQ(agent.selected(), at(2)) << "not the first";
    EXPECT_EQ(check({}, at(1)), answered);
    EXPECT_EQ(check({}, at(3)), newly_checked);
    EXPECT_EQ(agent.selected(), at(2)) << "pings from elsewhere move nothing";
    EXPECT_EQ(check({.nominates = true}, at(2)), answered) << "aggressive nomination repeats itself";
    EXPECT_EQ(check({.nominates = true}, at(3)), nominated) << "the client moved to another network";
    EXPECT_EQ(agent.selected(), at(3));
    EXPECT_EQ(check({.nominates = true}, at(3, 5'001)), nominated) << "another port is another pair";
}

TEST_F(IceAgent, SendsChecksInTheFormThatClientsExpect) {
    EXPECT_FALSE(poll());
    check({.nominates = true}, at(1));
    EXPECT_FALSE(poll()) << "the handshake will prove it";
    agent.confirm(now, at(1));
    EXPECT_FALSE(poll());
    check({.nominates = true}, at(2));
    const auto own = poll();
    ASSERT_TRUE(own);
    EXPECT_EQ(own->to, at(2));
    const auto message = parse_message(own->bytes);
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->kind, StunKind::request);
    EXPECT_EQ(message->username, "clie:serv");
    EXPECT_TRUE(message->ice_controlled);
    EXPECT_TRUE(message->priority);
    EXPECT_FALSE(message->use_candidate);
    EXPECT_TRUE(message->has_fingerprint);
    EXPECT_TRUE(wire::stun::has_integrity(own->bytes, *message, as_bytes("client's"), crypto::hmac_sha1).value());
}

TEST_F(IceAgent, MediaMovesWhenOurCheckIsAnsweredFromThere) {
    check({.nominates = true}, at(1));
    agent.confirm(now, at(1));
    EXPECT_EQ(check({.nominates = true}, at(2)), nominated);
    const auto own = poll().value();
    EXPECT_EQ(agent.selected(), at(1));
    EXPECT_EQ(receive(answer_to(own, "guessed"), at(2)).outcome, ignored);
    EXPECT_EQ(receive(answer_to(own), at(1)).outcome, ignored) << "from elsewhere";
    EXPECT_EQ(receive(answer_to({at(2), Check{}.bytes()}), at(2)).outcome, ignored) << "to another check";
    EXPECT_EQ(agent.selected(), at(1));
    const auto reply = receive(answer_to(own), at(2));
    EXPECT_EQ(reply.outcome, proved);
    EXPECT_TRUE(reply.bytes.empty());
    EXPECT_EQ(agent.selected(), at(2));
    EXPECT_EQ(receive(answer_to(own), at(2)).outcome, ignored) << "once";
    check({.nominates = true}, at(1));
    EXPECT_EQ(agent.selected(), at(2)) << "the way back is asked, too";
    check({.nominates = true}, at(2));
    EXPECT_FALSE(poll()) << "no need any more";
}

TEST_F(IceAgent, OurCheckIsRepeatedAndGivenUp) {
    check({.nominates = true}, at(1));
    agent.confirm(now, at(1));
    check({.nominates = true}, at(2));
    const TimePoint start = now;
    std::vector<std::chrono::milliseconds> sent;
    for (; now < start + 10s; now += 10ms) {
        if (now >= start + 5s)
            check({}, at(1));
        if (poll())
            sent.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(now - start));
    }
    EXPECT_EQ(sent, (std::vector<std::chrono::milliseconds>{0ms, 50ms, 150ms, 350ms, 750ms, 1'550ms, 3'150ms}));
    EXPECT_EQ(agent.next_timeout(), now - 10ms + 30s) << "nothing to poll";
    check({.nominates = true}, at(2));
    EXPECT_TRUE(poll()) << "who asks again is asked again";
    check({.nominates = true}, at(2));
    EXPECT_FALSE(poll()) << "but not once more for each";
}

TEST_F(IceAgent, ConsentIsThatOfTheProvedAddress) {
    check({.nominates = true}, at(1));
    agent.confirm(now, at(1));
    for (int s = 0; s < 29; ++s) {
        now += 1s;
        check({.nominates = true}, at(2));
        poll();
    }
    EXPECT_FALSE(agent.is_expired(now));
    now += 1s;
    EXPECT_TRUE(agent.is_expired(now));
}

TEST_F(IceAgent, WithoutAHandshakeChecksTheFirstAddressWithinALimit) {
    check({.nominates = true}, at(1));
    agent.require_proof(now);
    const TimePoint start = now;
    EXPECT_EQ(poll()->to, at(1));
    for (; now < start + Agent::kProofTime; now += 500ms) {
        EXPECT_FALSE(agent.is_expired(now));
        check({.nominates = true}, at(1));
        poll();
    }
    EXPECT_TRUE(agent.is_expired(now));
    check({.nominates = true}, at(3));
    receive(answer_to(poll().value()), at(3));
    EXPECT_FALSE(agent.is_expired(now));
    EXPECT_EQ(agent.selected(), at(3));
}

TEST_F(IceAgent, RefusesUnknownRequiredAttributes) {
    // REALM follows USERNAME. The writer does not support it, so another attribute of the same shape is written and renamed.
    MessageWriter out(StunKind::request, kTransaction);
    out.username("serv:clie").unknown_attributes({});
    Octets bytes = out.release();
    // UNKNOWN-ATTRIBUTES (0x000A), empty, becomes REALM (0x0014), empty; then the steps of sign() and fingerprint() follow.
    bytes[bytes.size() - 3] = 0x14;
    bytes[3] = static_cast<std::uint8_t>(bytes[3] + 24);
    const auto tag = crypto::hmac_sha1(as_bytes(kPwd), bytes).value();
    bytes.insert(bytes.end(), {0x00, 0x08, 0x00, 0x14});
    bytes.insert(bytes.end(), tag.begin(), tag.end());
    bytes[3] = static_cast<std::uint8_t>(bytes[3] + 8);
    const std::uint32_t crc = wire::stun::crc32(bytes) ^ 0x5354554E;
    bytes.insert(bytes.end(), {0x80, 0x28, 0x00, 0x04});
    for (int shift = 24; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<std::uint8_t>(crc >> shift));
    const auto reply = receive(bytes, at(1));
    EXPECT_EQ(reply.outcome, refused);
    const auto answer = parse_message(reply.bytes);
    EXPECT_EQ(answer->error->code, 420);
    EXPECT_EQ(answer->unknown_attributes, (std::vector<std::uint16_t>{0x0014}));
    EXPECT_EQ(agent.addresses(), 0U);
}

TEST_F(IceAgent, AStrictOneTellsOfARoleConflict) {
    Agent strict({.local_ufrag = "serv", .local_pwd = std::string(kPwd), .remote_ufrag = "clie", .is_strict = true}, now);
    const Octets bytes = Check{.nominates = true, .is_controlled = true}.bytes();
    const auto reply = strict.handle_stun(now, bytes, parse_message(bytes).value(), at(1));
    EXPECT_EQ(reply->outcome, refused);
    EXPECT_EQ(parse_message(reply->bytes)->error->code, 487);
    EXPECT_FALSE(strict.selected());
    EXPECT_EQ(check({.is_controlled = true}, at(1)), newly_checked) << "a lenient one does not mind";
}

TEST_F(IceAgent, BoundsItsAddressesAndKeepsThoseInUse) {
    check({.nominates = true}, at(90));
    agent.confirm(now, at(90));
    EXPECT_EQ(check({.nominates = true}, at(1)), nominated);
    for (int i = 2; i < static_cast<int>(Agent::kAddressesMax); ++i) {
        now += 1s;
        EXPECT_EQ(check({}, at(i)), newly_checked);
    }
    EXPECT_EQ(agent.addresses(), Agent::kAddressesMax);
    now += 1s;
    EXPECT_EQ(check({}, at(100)), newly_checked);
    EXPECT_EQ(agent.addresses(), Agent::kAddressesMax);
    EXPECT_TRUE(agent.is_checked(at(1)));
    EXPECT_TRUE(agent.is_checked(at(90)));
    EXPECT_FALSE(agent.is_checked(at(2))) << "the longest silent one";
    EXPECT_TRUE(agent.is_checked(at(3)));
    EXPECT_TRUE(agent.is_checked(at(100)));
}

TEST_F(IceAgent, ExpiresWithoutValidChecks) {
    check({}, at(1));
    now += 29s;
    EXPECT_FALSE(agent.is_expired(now));
    check({}, at(1));
    now += 29s;
    check({.pwd = "wrong"}, at(1));
    EXPECT_FALSE(agent.is_expired(now));
    now += 1s;
    EXPECT_TRUE(agent.is_expired(now)) << "the wrong one did not count";
}

TEST(IceUfrag, IsTheFirstHalfOfTheUserName) {
    const auto ufrag = [](StunKind kind, std::string_view username) {
        const Octets bytes = MessageWriter(kind, kTransaction).username(username).release();
        const auto message = parse_message(bytes);
        const auto found = local_ufrag_of(*message);
        return found ? std::string(*found) : std::string("none");
    };
    EXPECT_EQ(ufrag(StunKind::request, "serv:clie"), "serv");
    EXPECT_EQ(ufrag(StunKind::request, "serv:clie:x"), "serv");
    EXPECT_EQ(ufrag(StunKind::request, "serv"), "none");
    EXPECT_EQ(ufrag(StunKind::request, ":clie"), "none");
    EXPECT_EQ(ufrag(StunKind::indication, "serv:clie"), "none");
}

}  // namespace
}  // namespace live::engine::ice
