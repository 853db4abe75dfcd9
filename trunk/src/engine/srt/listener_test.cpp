#include "engine/srt/listener.hpp"

#include <gtest/gtest.h>

#include "engine/srt/link_fixture.hpp"

namespace live::engine::srt {
namespace {

constexpr TimePoint kNow{1h};
const Listener::Secret kSecret{1, 2, 3, 4};

Handshake induction() {
    Handshake handshake;
    handshake.version = 4;
    handshake.extension_field = 2;
    handshake.type = static_cast<std::uint32_t>(HandshakeType::induction);
    handshake.socket_id = kCallerSocket;
    return handshake;
}

std::vector<std::uint8_t> datagram_of(const Handshake& handshake) { return handshake_datagram(handshake, SocketId{}, 1'000); }

std::vector<std::uint8_t> answer_of(const Listener::Outcome& outcome) {
    const auto* const answer = std::get_if<std::vector<std::uint8_t>>(&outcome);
    return answer == nullptr ? std::vector<std::uint8_t>{} : *answer;
}

Handshake handshake_of(Bytes datagram) { return parse_handshake(datagram.subspan(kHeaderBytes)).value(); }

// A conclusion with the cookie that the listener gave.
Handshake conclusion(const Listener& listener, TimePoint now = kNow) {
    Handshake handshake;
    handshake.type = static_cast<std::uint32_t>(HandshakeType::conclusion);
    handshake.cookie = handshake_of(answer_of(listener.handle_datagram(now, datagram_of(induction()), kCallerAddress))).cookie;
    handshake.socket_id = kCallerSocket;
    handshake.initial_sequence = 77;
    handshake.request = Capabilities{.version = 0x01'04'04, .flags = 0xBF, .receiver_delay_ms = 80, .sender_delay_ms = 200};
    handshake.stream_id = "#!::r=live/livestream,m=publish";
    return handshake;
}

RejectReason reason_of(const Listener::Outcome& outcome) {
    const auto answer = answer_of(outcome);
    return answer.empty() ? RejectReason{} : RejectReason{handshake_of(answer).type};
}

TEST(SrtListener, AnswersAnInductionWithACookieAndItsMagic) {
    Listener listener(kSecret);
    listener.set_key_bytes(32);
    const auto question = datagram_of(induction());
    const auto answer = answer_of(listener.handle_datagram(kNow, question, kCallerAddress));
    EXPECT_EQ(answer.size(), question.size());
    EXPECT_EQ(destination_of(answer), kCallerSocket);
    const Handshake read = handshake_of(answer);
    EXPECT_EQ(read.version, 5U);
    EXPECT_EQ(read.encryption, 4U);
    EXPECT_EQ(read.extension_field, kInductionMagic);
    EXPECT_TRUE(read.is(HandshakeType::induction));
    EXPECT_NE(read.cookie, 0U);
}

TEST(SrtListener, ReportsTheRequestToTheOwner) {
    const Listener listener(kSecret);
    const auto outcome = listener.handle_datagram(kNow + 5ms, datagram_of(conclusion(listener)), kCallerAddress);
    const auto* const request = std::get_if<Request>(&outcome);
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->from, kCallerAddress);
    EXPECT_EQ(request->socket_id, kCallerSocket);
    EXPECT_EQ(request->handshake_version, 5U);
    EXPECT_EQ(request->stream_id, "#!::r=live/livestream,m=publish");
    EXPECT_EQ(request->capabilities.version, 0x01'04'04U);
    EXPECT_EQ(request->initial_sequence, 77U);
    EXPECT_EQ(request->timestamp, 1'000U);
    EXPECT_FALSE(request->is_encrypted());
}

TEST(SrtListener, ACookieIsForOneAddressAndTwoMinutes) {
    const Listener listener(kSecret);
    const auto good = datagram_of(conclusion(listener));
    const auto is_request = [&](TimePoint now, const TransportAddress& from) {
        return std::holds_alternative<Request>(listener.handle_datagram(now, good, from));
    };
    EXPECT_TRUE(is_request(kNow, kCallerAddress));
    EXPECT_TRUE(is_request(kNow + 60s, kCallerAddress));
    EXPECT_FALSE(is_request(kNow + 120s, kCallerAddress));
    EXPECT_FALSE(is_request(kNow - 1s, kCallerAddress));
    EXPECT_FALSE(is_request(kNow, kListenerAddress));
    TransportAddress other_port = kCallerAddress;
    ++other_port.port;
    EXPECT_FALSE(is_request(kNow, other_port));
    Handshake forged = conclusion(listener);
    forged.cookie ^= 1;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(listener.handle_datagram(kNow, datagram_of(forged), kCallerAddress)));
}

TEST(SrtListener, RefusesUnsupportedRequests) {
    const Listener listener(kSecret);
    const auto reason = [&listener](auto change) {
        Handshake handshake = conclusion(listener);
        change(handshake);
        return reason_of(listener.handle_datagram(kNow, datagram_of(handshake), kCallerAddress));
    };
    EXPECT_EQ(reason([](Handshake& h) { h.version = 6; }), RejectReason::version);
    EXPECT_EQ(reason([](Handshake& h) { h.request.reset(); }), RejectReason::rogue);
    EXPECT_EQ(reason([](Handshake& h) { h.mtu = 50; }), RejectReason::rogue);
    EXPECT_EQ(reason([](Handshake& h) { h.flow_window = 0; }), RejectReason::rogue);
    EXPECT_EQ(reason([](Handshake& h) { h.request->flags |= flag::kStream; }), RejectReason::message_api);
    EXPECT_EQ(reason([](Handshake& h) { h.congestion = "file"; }), RejectReason::congestion);
    EXPECT_EQ(reason([](Handshake& h) { h.congestion = "live"; }), RejectReason{});
    EXPECT_EQ(reason([](Handshake& h) { h.key_request.assign(72, 1); }), RejectReason::rogue);
}

// Every answer to a caller that has not proved its address, and every answer before accept().
TEST(SrtListener, AnswersAreNeverLongerThanTheQuestion) {
    const Listener listener(kSecret);
    const auto whole = datagram_of(conclusion(listener));
    for (std::size_t size = 0; size <= whole.size(); ++size)
        EXPECT_LE(answer_of(listener.handle_datagram(kNow, Bytes(whole).first(size), kCallerAddress)).size(), size);
    const auto question = datagram_of(induction());
    for (std::size_t size = 0; size <= question.size(); ++size)
        EXPECT_LE(answer_of(listener.handle_datagram(kNow, Bytes(question).first(size), kCallerAddress)).size(), size);
}

Request request_of(const Handshake& handshake, const Listener& listener) {
    auto outcome = listener.handle_datagram(kNow, datagram_of(handshake), kCallerAddress);
    return std::get<Request>(std::move(outcome));
}

std::vector<std::uint8_t> response_of(Connection& connection) {
    std::vector<std::uint8_t> buffer(kDatagramBytesMax);
    buffer.resize(connection.write_next(kNow, buffer));
    return buffer;
}

TEST(SrtListener, AcceptsWithTheLargerLatencies) {
    const Listener listener(kSecret);
    const auto question = datagram_of(conclusion(listener));
    ConnectionOptions options;
    options.receive_latency = 120ms;
    options.peer_latency = 100ms;
    auto connection = accept(kNow, request_of(conclusion(listener), listener), kListenerSocket, options, {});
    ASSERT_TRUE(connection.ok());
    EXPECT_EQ((*connection)->figures().receive_latency, 200ms);
    EXPECT_EQ((*connection)->figures().send_latency, 100ms);
    EXPECT_EQ((*connection)->figures().peer_version, 0x01'04'04U);
    EXPECT_TRUE((*connection)->is_peer(kCallerAddress));
    EXPECT_FALSE((*connection)->is_peer(kListenerAddress));
    const auto answer = response_of(**connection);
    EXPECT_LE(answer.size(), question.size());
    EXPECT_EQ(destination_of(answer), kCallerSocket);
    const Handshake response = handshake_of(answer);
    EXPECT_TRUE(response.is(HandshakeType::conclusion));
    EXPECT_EQ(response.socket_id, kListenerSocket);
    ASSERT_TRUE(response.response.has_value());
    EXPECT_EQ(response.response->receiver_delay_ms, 200);
    EXPECT_EQ(response.response->sender_delay_ms, 100);
    // Once, and again when the caller repeats its request.
    EXPECT_TRUE(response_of(**connection).empty());
    (*connection)->repeat_response();
    EXPECT_EQ(response_of(**connection).size(), answer.size());
}

TEST(SrtListener, RequiresAPassphraseAtBothEndsOrNone) {
    const Listener listener(kSecret);
    const Salt salt{5};
    const KeyEncryptingKey kek = derive_key("correct horse battery", salt, 16).value();
    Handshake encrypted = conclusion(listener);
    encrypted.encryption = 2;
    encrypted.key_request = write_key_message({.keys = KeyFlag::even,
                                               .key_bytes = 16,
                                               .salt = salt,
                                               .wrapped = wrap_keys(kek, std::vector<std::uint8_t>(16, 3)).value()});
    const Request with = request_of(encrypted, listener);
    ASSERT_TRUE(with.is_encrypted());
    EXPECT_EQ(with.key_request->salt, salt);
    const Request without = request_of(conclusion(listener), listener);
    EXPECT_EQ(accept(kNow, with, kListenerSocket, {}, {}).code(), Errc::denied);
    EXPECT_EQ(accept(kNow, without, kListenerSocket, {}, kek).code(), Errc::denied);
    EXPECT_EQ(accept(kNow, with, kListenerSocket, {}, derive_key("another passphrase", salt, 16).value()).code(), Errc::denied);
    auto connection = accept(kNow, with, kListenerSocket, {}, kek);
    ASSERT_TRUE(connection.ok());
    const auto answer = response_of(**connection);
    EXPECT_LE(answer.size(), datagram_of(encrypted).size());
    EXPECT_EQ(handshake_of(answer).key_response, encrypted.key_request);
}

TEST(SrtListener, RefusalsCarryTheReason) {
    const Listener listener(kSecret);
    const Request request = request_of(conclusion(listener), listener);
    const auto answer = refuse(request, reject_reason_of_status(401));
    EXPECT_EQ(answer.size(), 64U);
    EXPECT_EQ(destination_of(answer), kCallerSocket);
    EXPECT_EQ(handshake_of(answer).type, 2'401U) << "as libsrt has it: every reason is added to 1000";
    EXPECT_EQ(reject_reason_of_status(418), RejectReason::peer);
}

}  // namespace
}  // namespace live::engine::srt
