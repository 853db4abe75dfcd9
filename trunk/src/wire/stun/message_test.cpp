#include "wire/stun/message.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "wire/stun/stun_vectors.hpp"

namespace live::wire::stun {
namespace {

using Octets = std::vector<std::uint8_t>;

// Not a hash, but shows its input: the sum of the key, and the first bytes of the data.
Result<IntegrityTag> echo(Bytes key, Bytes data) {
    IntegrityTag tag{};
    for (const std::uint8_t byte : key)
        tag[0] = static_cast<std::uint8_t>(tag[0] + byte);
    tag[1] = data[2];
    tag[2] = data[3];
    tag[3] = static_cast<std::uint8_t>(data.size());
    for (const std::uint8_t byte : data)
        tag[4] = static_cast<std::uint8_t>(tag[4] * 31 + byte);
    return tag;
}

Result<IntegrityTag> refuse(Bytes, Bytes) { return Error(Errc::system, "no crypto today"); }

constexpr TransactionId kTransaction{0xB7, 0xE7, 0xA7, 0x01, 0xBC, 0x34, 0xD6, 0x86, 0xFA, 0x87, 0xDF, 0xAE};

TEST(StunMessage, ReadsTheRequestOfTheText) {
    const auto message = parse_message(stun_vectors()[0].bytes);
    ASSERT_TRUE(message.ok()) << message.error().text();
    EXPECT_EQ(message->kind, Kind::request);
    EXPECT_EQ(message->method, kBinding);
    EXPECT_EQ(message->transaction, kTransaction);
    EXPECT_EQ(message->software, "STUN test client");
    EXPECT_EQ(message->priority, 0x6E0001FFU);
    EXPECT_EQ(message->ice_controlled, 0x932FF9B151263B36U);
    EXPECT_EQ(message->username, "evtj:h6vY");
    EXPECT_FALSE(message->use_candidate);
    EXPECT_TRUE(message->has_fingerprint);
    EXPECT_EQ(message->integrity_at, 76U);
}

TEST(StunMessage, ReadsTheAddressesOfTheText) {
    const auto v4 = parse_message(stun_vectors()[1].bytes);
    ASSERT_TRUE(v4.ok()) << v4.error().text();
    EXPECT_EQ(v4->kind, Kind::success);
    EXPECT_EQ(v4->xor_mapped_address, (TransportAddress{parse_ip("192.0.2.1").value(), 32'853}));
    const auto v6 = parse_message(stun_vectors()[2].bytes);
    ASSERT_TRUE(v6.ok()) << v6.error().text();
    EXPECT_EQ(v6->xor_mapped_address, (TransportAddress{parse_ip("2001:db8:1234:5678:11:2233:4455:6677").value(), 32'853}));
}

TEST(StunMessage, EveryTruncationIsRefused) {
    for (const Vector& vector : stun_vectors())
        for (std::size_t size = 0; size < vector.bytes.size(); ++size)
            EXPECT_EQ(parse_message(Bytes(vector.bytes).first(size)).code(), Errc::need_more) << vector.name << " at " << size;
}

TEST(StunMessage, EveryFlippedBitIsSeen) {
    for (const Vector& vector : stun_vectors())
        for (std::size_t bit = 0; bit < vector.bytes.size() * 8; ++bit) {
            Octets bytes = vector.bytes;
            bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] ^ 1U << bit % 8);
            const auto message = parse_message(bytes);
            // Changing the type of the FINGERPRINT attribute yields a message without one.
            EXPECT_TRUE(!message.ok() || !message->has_fingerprint) << vector.name << " bit " << bit;
        }
}

TEST(StunMessage, RoundTrips) {
    MessageWriter writer(Kind::request, kTransaction);
    writer.username("a:b").priority(7).use_candidate().ice_controlling(9).software("x");
    ASSERT_TRUE(writer.sign(as_bytes("key"), echo).ok());
    writer.fingerprint();
    const Octets bytes = writer.release();
    const auto message = parse_message(bytes);
    ASSERT_TRUE(message.ok()) << message.error().text();
    EXPECT_EQ(message->username, "a:b");
    EXPECT_EQ(message->priority, 7U);
    EXPECT_TRUE(message->use_candidate);
    EXPECT_EQ(message->ice_controlling, 9U);
    EXPECT_EQ(message->software, "x");
    EXPECT_TRUE(message->has_fingerprint);
    EXPECT_TRUE(has_integrity(bytes, *message, as_bytes("key"), echo).value());
    EXPECT_FALSE(has_integrity(bytes, *message, as_bytes("kez"), echo).value());
    EXPECT_EQ(has_integrity(bytes, *message, as_bytes("key"), refuse).code(), Errc::system);
}

TEST(StunMessage, WritesAddressesAndErrors) {
    for (const char* ip : {"203.0.113.9", "2001:db8::7"}) {
        const TransportAddress address{parse_ip(ip).value(), 65'000};
        const Octets bytes = MessageWriter(Kind::success, kTransaction).xor_mapped_address(address).release();
        EXPECT_EQ(parse_message(bytes)->xor_mapped_address, address) << ip;
    }
    const Octets bytes =
        MessageWriter(Kind::error, kTransaction).error({487, "Role Conflict"}).unknown_attributes({1, 2}).release();
    const auto message = parse_message(bytes);
    ASSERT_TRUE(message.ok()) << message.error().text();
    EXPECT_EQ(message->kind, Kind::error);
    EXPECT_EQ(message->error, (ErrorCode{487, "Role Conflict"}));
    EXPECT_EQ(message->unknown_attributes, (std::vector<std::uint16_t>{1, 2}));
}

TEST(StunMessage, WritesEveryKindAndMethod) {
    for (const Kind kind : {Kind::request, Kind::indication, Kind::success, Kind::error})
        for (const std::uint16_t method : std::initializer_list<std::uint16_t>{0x001, 0x010, 0x080, 0xFFF}) {
            const auto message = parse_message(MessageWriter(kind, kTransaction, method).release());
            EXPECT_EQ(message->kind, kind);
            EXPECT_EQ(message->method, method);
        }
    EXPECT_EQ(MessageWriter(Kind::error, kTransaction).release()[0], 1);
    EXPECT_EQ(MessageWriter(Kind::error, kTransaction).release()[1], 0x11);
}

TEST(StunMessage, RefusesMessagesWithoutIntegrity) {
    const Octets bytes = MessageWriter(Kind::request, kTransaction).username("a:b").fingerprint().release();
    const auto message = parse_message(bytes);
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->integrity_at, 0U);
    EXPECT_FALSE(has_integrity(bytes, *message, as_bytes("key"), echo).value());
}

TEST(StunMessage, IgnoresAttributesAfterTheIntegrity) {
    MessageWriter writer(Kind::request, kTransaction);
    ASSERT_TRUE(writer.sign(as_bytes("key"), echo).ok());
    writer.use_candidate().username("evil").fingerprint();
    const auto message = parse_message(writer.release());
    ASSERT_TRUE(message.ok());
    EXPECT_FALSE(message->use_candidate);
    EXPECT_FALSE(message->username);
    EXPECT_TRUE(message->has_fingerprint);
}

TEST(StunMessage, TheFirstOfTwoCounts) {
    const auto bytes =
        MessageWriter(Kind::request, kTransaction).username("a:b").username("c:d").priority(1).priority(2).release();
    const auto message = parse_message(bytes);
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->username, "a:b");
    EXPECT_EQ(message->priority, 1U);
}

TEST(StunMessage, ListsUnknownRequiredAttributes) {
    // REALM (0x0014) is comprehension-required, ALTERNATE-DOMAIN (0x8003) is not.
    const auto message = parse_message(hex("0001000c 2112a442 b7e7a701bc34d686fa87dfae 00140002 61620000 80030000"));
    ASSERT_TRUE(message.ok()) << message.error().text();
    EXPECT_EQ(message->not_understood, (std::vector<std::uint16_t>{0x0014}));
}

TEST(StunMessage, RefusesMalformedInput) {
    const std::string head = "2112a442 b7e7a701bc34d686fa87dfae ";
    const std::pair<const char*, std::string> cases[] = {
        {"another cookie", "00010000 2112a443 b7e7a701bc34d686fa87dfae"},
        {"the first two bits", "40010000 " + head},
        {"a length that is no multiple of four", "00010002 " + head + "0000"},
        {"bytes behind", "00010000 " + head + "00000000"},
        {"a longer attribute", "00010004 " + head + "00060004"},
        {"padding that is missing", "00010008 " + head + "00060005 61616161"},
        {"a priority of 3 bytes", "00010008 " + head + "00240003 61616100"},
        {"a tie breaker of 4 bytes", "00010008 " + head + "802a0004 61616100"},
        {"an address of family 3", "0101000c " + head + "00200008 0003a147e112a643"},
        {"an IPv6 address of 4 bytes", "0101000c " + head + "00200008 0002a147e112a643"},
        {"error 200", "01110008 " + head + "00090004 00000200"},
        {"error 4100", "01110008 " + head + "00090004 00000464"},
        {"a short integrity", "00010008 " + head + "00080004 00000000"},
        {"a fingerprint that is not last", "00010010 " + head + "80280004 00000000 00250000 00250000"},
    };
    for (const auto& [what, text] : cases)
        EXPECT_EQ(parse_message(hex(text)).code(), Errc::malformed) << what;
}

TEST(StunMessage, HasBounds) {
    MessageWriter writer(Kind::request, kTransaction);
    for (std::size_t i = 0; i < kAttributesMax; ++i)
        writer.use_candidate();
    Octets bytes = writer.release();
    EXPECT_TRUE(parse_message(bytes).ok());
    bytes.insert(bytes.end(), {0, 0x25, 0, 0});
    bytes[3] = static_cast<std::uint8_t>(bytes[3] + 4);
    EXPECT_EQ(parse_message(bytes).code(), Errc::limit);

    EXPECT_TRUE(parse_message(MessageWriter(Kind::request, kTransaction).username(std::string(513, 'u')).release()).ok());
    Octets long_name = MessageWriter(Kind::request, kTransaction).username(std::string(513, 'u')).release();
    long_name[23] = static_cast<std::uint8_t>(long_name[23] + 1);
    EXPECT_EQ(parse_message(long_name).code(), Errc::malformed);
    EXPECT_EQ(parse_message(Octets(kMessageBytesMax + 1)).code(), Errc::limit);
}

TEST(StunMessage, IsDistinguishedFromOtherDatagrams) {
    EXPECT_TRUE(looks_like_stun(stun_vectors()[0].bytes));
    EXPECT_FALSE(looks_like_stun(Bytes(stun_vectors()[0].bytes).first(19)));
    EXPECT_FALSE(looks_like_stun(Octets(40, 0)));
    Octets rtp = stun_vectors()[0].bytes;
    rtp[0] = 0x80;
    EXPECT_FALSE(looks_like_stun(rtp));
}

}  // namespace
}  // namespace live::wire::stun
