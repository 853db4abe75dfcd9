// Datagrams from peers that have not proved knowledge of the session's password have no effect.
#include <gtest/gtest.h>

#include "engine/crypto/hmac_sha1.hpp"
#include "engine/webrtc/plain_session_fixture.hpp"

namespace live::engine::webrtc {
namespace {

const std::string kPassword(32, 's');

class Strangers : public testing::Test {
protected:
    Strangers() {
        SessionOptions options;
        options.ice = {.local_ufrag = "server", .local_pwd = kPassword, .remote_ufrag = {}};
        options.agreement.sections = {accepted_audio(), accepted_video()};
        options.agreement.remote_ufrag = "client";
        options.agreement.setup = wire::sdp::SetupRole::passive;
        options.agreement.remote_fingerprint = {"sha-256", "00"};
        session = PublishSession::create(test_context(), options, output, now).value();
    }
    static Octets check(std::string_view password, std::uint8_t id, std::string_view username = "server:client") {
        wire::stun::MessageWriter out(wire::stun::Kind::request, {id});
        out.username(username).ice_controlling(1).use_candidate().priority(1);
        EXPECT_TRUE(out.sign(as_bytes(password), crypto::hmac_sha1).ok());
        out.fingerprint();
        return out.release();
    }
    // A client's first flight.
    static Octets hello() {
        const auto client =
            dtls::Transport::create(test_context(), {.role = dtls::Role::client, .remote_fingerprint = {}}, TimePoint{1h})
                .value();
        EXPECT_TRUE(client->start(TimePoint{1h}).ok());
        return client->take_output().at(0);
    }
    void give(Octets datagram, const TransportAddress& from = kClientAddress) {
        EXPECT_TRUE(session->handle_datagram(now, datagram, from).ok());
    }

    TimePoint now{1h};
    DatagramBatch output;
    std::unique_ptr<Session> session;
};

TEST_F(Strangers, NothingIsAnsweredBeforeAValidCheck) {
    give(hello());
    give(rtp_of({.ssrc = 1, .type = 106}));
    give(rtcp_of(wire::rtcp::Pli{1, 2}));
    give(check("wrong", 1));
    give(check(kPassword, 1, "server:somebody"));
    give(check(kPassword, 1, "another:client"));
    give(Octets(2'000, 0x16));
    give({});
    EXPECT_TRUE(output.empty());
    EXPECT_FALSE(session->selected());
    EXPECT_EQ(session->state(), Session::State::connecting);
    EXPECT_EQ(session->figures().unknown_address, 5U);
    give(check(kPassword, 2));
    EXPECT_EQ(output.datagrams(), 1U);
    EXPECT_LE(output.bytes(), check(kPassword, 2).size()) << "no answer is longer than what asked for it";
    output.clear();
    give(hello());
    EXPECT_FALSE(output.empty()) << "now it may begin";
}

TEST_F(Strangers, FloodDoesNotAffectOtherClients) {
    give(check(kPassword, 1));
    output.clear();
    const Octets stray = check("wrong", 9);
    const Octets first = hello();
    for (std::uint16_t i = 1; i < 5'000; ++i) {
        const TransportAddress stranger{kClientAddress.ip, i};
        give(stray, stranger);
        give(first, stranger);
    }
    EXPECT_TRUE(output.empty());
    EXPECT_EQ(session->selected(), kClientAddress);
    EXPECT_TRUE(session->is_checked(kClientAddress));
    give(first);
    EXPECT_FALSE(output.empty());
}

TEST_F(Strangers, AReplayedCheckGetsNoLongerAnswer) {
    const Octets valid = check(kPassword, 1);
    give(valid);
    output.clear();
    // An on-path attacker can replay it, and gets an answer that is not longer than the check.
    const TransportAddress thief{kClientAddress.ip, 666};
    give(valid, thief);
    EXPECT_LE(output.bytes(), valid.size());
}

TEST_F(Strangers, ASessionWithoutAClientExpires) {
    EXPECT_EQ(session->next_timeout(), now + 30s);
    now += 30s;
    EXPECT_FALSE(session->handle_timeout(now).ok() && session->state() != Session::State::closed);
    EXPECT_EQ(session->state(), Session::State::closed);
    give(check(kPassword, 1));
    EXPECT_TRUE(output.empty()) << "closed is closed";
}

TEST_F(Strangers, GarbageBehindAValidCheckIsSurvived) {
    give(check(kPassword, 1));
    output.clear();
    for (std::uint8_t first = 0; first < 255; ++first)
        for (const std::size_t size : {1U, 12U, 13U, 40U, 1'500U}) {
            Octets garbage(size, static_cast<std::uint8_t>(first + 1));
            garbage[0] = first;
            static_cast<void>(session->handle_datagram(now, garbage, kClientAddress).ok());
        }
    EXPECT_NE(session->state(), Session::State::established);
}

}  // namespace
}  // namespace live::engine::webrtc
