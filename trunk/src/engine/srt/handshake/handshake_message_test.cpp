#include "engine/srt/handshake/handshake_message.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "engine/srt/handshake/key_message.hpp"

namespace live::engine::srt {
namespace {

// Version 5, AES-128, three extensions: capabilities of 1.5.1 with 120 ms, a key, and "abcde" as stream id.
constexpr std::string_view kConclusion =
    "00000005 00020007 11111111 000005dc 00002000 ffffffff 22222222 deadbeef 0700000a 00000000 00000000 00000000 "
    "00010003 00010501 000000bf 00780078 "
    "0003000e 12202901 00000000 02000200 00000404 000102030405060708090a0b0c0d0e0f "
    "1111111111111111 22222222222222222222222222222222 "
    "00050002 64636261 00000065";

TEST(SrtHandshake, ReadsAndWritesAConclusion) {
    const auto bytes = hex(kConclusion);
    const auto read = parse_handshake(bytes);
    ASSERT_TRUE(read.ok()) << read.error().text();
    EXPECT_EQ(read->version, 5U);
    EXPECT_EQ(read->encryption, 2U);
    EXPECT_EQ(read->extension_field, 7U);
    EXPECT_EQ(read->initial_sequence, 0x1111'1111U);
    EXPECT_EQ(read->mtu, 1'500U);
    EXPECT_EQ(read->flow_window, 8'192U);
    EXPECT_TRUE(read->is(HandshakeType::conclusion));
    EXPECT_EQ(read->socket_id, SocketId{0x2222'2222});
    EXPECT_EQ(read->cookie, 0xDEAD'BEEFU);
    EXPECT_EQ(read->request, (Capabilities{0x01'05'01, 0xBF, 120, 120}));
    EXPECT_FALSE(read->response.has_value());
    EXPECT_EQ(read->stream_id, "abcde");
    EXPECT_TRUE(parse_key_message(read->key_request).ok());
    EXPECT_EQ(write_handshake(*read), bytes);
}

TEST(SrtHandshake, RefusesEveryTruncation) {
    const auto bytes = hex(kConclusion);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto read = parse_handshake(Bytes(bytes).first(size));
        // Between two extensions, those that are there are valid.
        const bool is_between = size == 48 || size == 64 || size == 124;
        EXPECT_EQ(read.ok(), is_between) << size;
    }
}

TEST(SrtHandshake, HasNoExtensionsInVersion4) {
    auto bytes = hex(kConclusion);
    bytes[3] = 4;
    const auto read = parse_handshake(bytes);
    ASSERT_TRUE(read.ok());
    EXPECT_FALSE(read->request.has_value());
    EXPECT_TRUE(read->stream_id.empty());
}

TEST(SrtHandshake, BoundsItsExtensions) {
    Handshake handshake;
    handshake.type = static_cast<std::uint32_t>(HandshakeType::conclusion);
    handshake.stream_id = std::string(600, 'x');
    EXPECT_EQ(parse_handshake(write_handshake(handshake))->stream_id, std::string(512, 'x'));
    auto bytes = write_handshake(handshake);
    bytes[48 + 3] = 129;  // 516 bytes
    bytes.insert(bytes.end(), 4, 'x');
    EXPECT_EQ(parse_handshake(bytes).code(), Errc::malformed);
    handshake.stream_id.clear();
    handshake.key_request.assign(kKeyMessageBytesMax + 4, 1);
    EXPECT_EQ(parse_handshake(write_handshake(handshake)).code(), Errc::malformed);
}

TEST(SrtHandshake, WritesAddressesAsItsPeersDo) {
    EXPECT_EQ(peer_ip_of({parse_ip("127.0.0.1").value(), 1})[0], 0x0100'007FU);
    const auto six = peer_ip_of({parse_ip("2001:db8::1").value(), 1});
    EXPECT_EQ(six[0], 0xB80D'0120U);
    EXPECT_EQ(six[3], 0x0100'0000U);
}

TEST(SrtKeyMessage, ReadsAndWritesEachLength) {
    for (const std::size_t key_bytes : {16U, 24U, 32U})
        for (const KeyFlag keys : {KeyFlag::even, KeyFlag::odd, KeyFlag::both}) {
            KeyMessage message{.keys = keys, .key_bytes = key_bytes, .salt = {1, 2, 3}, .wrapped = {}};
            message.wrapped.assign(8 + message.key_count() * key_bytes, 7);
            const auto bytes = write_key_message(message);
            EXPECT_LE(bytes.size(), kKeyMessageBytesMax);
            EXPECT_EQ(parse_key_message(bytes).value(), message);
            for (std::size_t size = 0; size < bytes.size(); ++size)
                EXPECT_FALSE(parse_key_message(Bytes(bytes).first(size)).ok());
            auto longer = bytes;
            longer.push_back(0);
            EXPECT_FALSE(parse_key_message(longer).ok());
        }
}

TEST(SrtKeyMessage, ReportsUnsupportedFeatures) {
    KeyMessage message;
    message.wrapped.assign(24, 7);
    auto bytes = write_key_message(message);
    bytes[8] = 4;  // AES-GCM
    bytes[9] = 1;
    EXPECT_EQ(parse_key_message(bytes).code(), Errc::unsupported);
    bytes = write_key_message(message);
    bytes[15] = 5;  // a key of 20 bytes
    EXPECT_EQ(parse_key_message(bytes).code(), Errc::malformed);
    bytes = write_key_message(message);
    bytes[3] = 0;  // no key
    EXPECT_EQ(parse_key_message(bytes).code(), Errc::malformed);
}

TEST(SrtKeyMessage, ReadsAStateInEitherOrder) {
    EXPECT_EQ(parse_key_state(hex("00000004")), KeyState::bad_secret);
    EXPECT_EQ(parse_key_state(hex("03000000")), KeyState::no_secret);
    EXPECT_FALSE(parse_key_state(hex("00000009")).has_value());
    EXPECT_FALSE(parse_key_state(hex("000000")).has_value());
}

}  // namespace
}  // namespace live::engine::srt
