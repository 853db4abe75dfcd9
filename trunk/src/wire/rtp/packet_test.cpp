#include "wire/rtp/packet.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::rtp {
namespace {

using Octets = std::vector<std::uint8_t>;

struct Case {
    const char* name;
    Octets bytes;
    std::size_t payload_bytes;
};

const std::vector<Case>& cases() {
    static const std::vector<Case> table = {
        {"plain", hex("80e0 1234 00000064 cafebabe 0102"), 2},
        {"two contributors", hex("8260 0001 00000002 00000003 00000004 00000005 ff"), 1},
        {"one-byte extensions", hex("906f ffff 00000002 00000003 bede0002 10aa 00 32bbccdd 00 01"), 1},
        {"two-byte extensions", hex("906f ffff 00000002 00000003 10000002 0100 00 1002aabb 00 01"), 1},
        {"an extension of no words", hex("906f 0000 00000002 00000003 bede0000 0102"), 2},
        {"padding", hex("a06f 0000 00000002 00000003 01020304 000003"), 4},
        {"padding only", hex("a06f 0000 00000002 00000003 0002"), 0},
        {"no payload", hex("806f 0000 00000002 00000003"), 0},
    };
    return table;
}

Octets octets(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

TEST(RtpPacket, ReadsEveryVector) {
    for (const Case& wanted : cases()) {
        const auto packet = parse_packet(wanted.bytes);
        ASSERT_TRUE(packet.ok()) << wanted.name << ": " << packet.error().text();
        EXPECT_EQ(packet->payload.size(), wanted.payload_bytes) << wanted.name;
    }
}

TEST(RtpPacket, ReadsTheFields) {
    const auto plain = parse_packet(cases()[0].bytes);
    EXPECT_TRUE(plain->marker);
    EXPECT_EQ(plain->payload_type, 96);
    EXPECT_EQ(plain->sequence, 0x1234);
    EXPECT_EQ(plain->timestamp, 100U);
    EXPECT_EQ(plain->ssrc, 0xCAFEBABEU);
    EXPECT_EQ(octets(plain->payload), hex("0102"));
    const auto mixed = parse_packet(cases()[1].bytes);
    EXPECT_FALSE(mixed->marker);
    EXPECT_EQ(mixed->csrc_count, 2);
    EXPECT_EQ(mixed->csrcs[1], 5U);
    EXPECT_EQ(parse_packet(cases()[5].bytes)->padding, 3);
}

TEST(RtpPacket, ACutHeaderNeedsMore) {
    for (const Case& wanted : cases()) {
        const std::size_t header = wanted.bytes.size() - wanted.payload_bytes - parse_packet(wanted.bytes)->padding;
        for (std::size_t size = 0; size < header; ++size)
            EXPECT_EQ(parse_packet(Bytes(wanted.bytes).first(size)).code(), Errc::need_more) << wanted.name << " at " << size;
    }
}

TEST(RtpPacket, FindsExtensionsOfBothForms) {
    const auto one = parse_packet(cases()[2].bytes);
    const auto found = extensions_of(*one);
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].id, 1);
    EXPECT_EQ(octets(found[0].value), hex("aa"));
    EXPECT_EQ(found[1].id, 3);
    EXPECT_EQ(octets(found[1].value), hex("bbccdd"));
    EXPECT_EQ(cases()[2].bytes[found[1].at], 0xBB);
    EXPECT_EQ(find_extension(*one, 3), found[1]);
    EXPECT_FALSE(find_extension(*one, 2));

    const auto two = parse_packet(cases()[3].bytes);
    ASSERT_EQ(extensions_of(*two).size(), 2U);
    EXPECT_TRUE(find_extension(*two, 1)->value.empty());
    EXPECT_EQ(octets(find_extension(*two, 16)->value), hex("aabb"));
}

TEST(RtpPacket, ExtensionsEndAtTheTerminator) {
    const auto count = [](const char* extension) {
        const Octets bytes = hex(std::string("906f 0000 00000002 00000003 ") + extension);
        return extensions_of(parse_packet(bytes).value()).size();
    };
    EXPECT_EQ(count("bede0002 10aa f0bb 20cc 0000"), 1U) << "id 15";
    EXPECT_EQ(count("bede0001 10aa 01bb"), 1U) << "padding with a length";
    EXPECT_EQ(count("bede0001 10aa 23bb"), 1U) << "longer than the rest";
    EXPECT_EQ(count("10000001 01040102"), 0U) << "longer than the rest";
    EXPECT_EQ(count("10050001 01020102"), 1U) << "application bits";
    EXPECT_EQ(count("12340001 01020102"), 0U) << "somebody's own profile";
    EXPECT_EQ(count("bede0000"), 0U);
}

TEST(RtpPacket, RefusesMalformedInput) {
    EXPECT_EQ(parse_packet(hex("406f 0000 00000002 00000003")).code(), Errc::malformed) << "version 1";
    EXPECT_EQ(parse_packet(hex("a06f 0000 00000002 00000003")).code(), Errc::malformed) << "no room for padding";
    EXPECT_EQ(parse_packet(hex("a06f 0000 00000002 00000003 0000")).code(), Errc::malformed) << "padding of 0";
    EXPECT_EQ(parse_packet(hex("a06f 0000 00000002 00000003 0003")).code(), Errc::malformed) << "padding of 3 in 2";
    Octets bytes(kPacketBytesMax, 0);
    bytes[0] = 0x80;
    EXPECT_TRUE(parse_packet(bytes).ok());
    bytes.push_back(0);
    EXPECT_EQ(parse_packet(bytes).code(), Errc::limit);
}

TEST(RtpPacket, RoundTrips) {
    for (const Case& wanted : cases()) {
        const Packet packet = parse_packet(wanted.bytes).value();
        ByteWriter out;
        write_header(out, packet, extensions_of(packet));
        out.bytes(packet.payload);
        const Octets bytes = out.release();
        const Packet again = parse_packet(bytes).value();
        EXPECT_EQ(again.sequence, packet.sequence) << wanted.name;
        EXPECT_EQ(again.ssrc, packet.ssrc) << wanted.name;
        EXPECT_EQ(again.csrc_count, packet.csrc_count) << wanted.name;
        EXPECT_EQ(octets(again.payload), octets(packet.payload)) << wanted.name;
        EXPECT_EQ(extensions_of(again).size(), extensions_of(packet).size()) << wanted.name;
    }
}

TEST(RtpPacket, WritesTheFormThatTheValuesNeed) {
    const Octets value(17, 7);
    const auto profile = [](const std::vector<Extension>& extensions) {
        ByteWriter out;
        write_header(out, Packet{}, extensions);
        const Octets bytes = out.release();
        const Packet packet = parse_packet(bytes).value();
        EXPECT_EQ(extensions_of(packet).size(), extensions.size());
        EXPECT_EQ(octets(extensions_of(packet).back().value), octets(extensions.back().value));
        return *packet.extension_profile;
    };
    EXPECT_EQ(profile({{14, 0, Bytes(value).first(16)}}), kOneByteProfile);
    EXPECT_EQ(profile({{14, 0, value}}), kTwoByteProfile);
    EXPECT_EQ(profile({{15, 0, Bytes(value).first(1)}}), kTwoByteProfile);
    EXPECT_EQ(profile({{1, 0, {}}}), kTwoByteProfile);
}

TEST(RtpPacket, RtxCarriesTheOriginal) {
    const Packet original = parse_packet(cases()[0].bytes).value();
    const Octets bytes = hex("80e1 0007 00000064 0000002a 1234 0102");
    const auto rtx = parse_packet(bytes);
    const auto back = unwrap_rtx(*rtx, original.ssrc, original.payload_type);
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(back->sequence, original.sequence);
    EXPECT_EQ(back->ssrc, original.ssrc);
    EXPECT_EQ(back->payload_type, original.payload_type);
    EXPECT_TRUE(back->marker);
    EXPECT_EQ(octets(back->payload), octets(original.payload));
}

TEST(RtpPacket, RtxOfPaddingRepairsNothing) {
    EXPECT_EQ(unwrap_rtx(parse_packet(cases()[6].bytes).value(), 1, 2).code(), Errc::need_more);
    EXPECT_EQ(unwrap_rtx(parse_packet(cases()[1].bytes).value(), 1, 2).code(), Errc::need_more);
}

TEST(RtpPacket, IsDistinguishedFromRtcpAndTheRest) {
    EXPECT_TRUE(looks_like_rtp(cases()[0].bytes));
    EXPECT_FALSE(looks_like_rtcp(cases()[0].bytes));
    EXPECT_TRUE(looks_like_rtcp(hex("80c90001 00000001")));
    EXPECT_FALSE(looks_like_rtcp(hex("80bf0001 00000001")));
    EXPECT_TRUE(looks_like_rtcp(hex("80df0001 00000001")));
    EXPECT_FALSE(looks_like_rtcp(hex("80e00001 00000001")));
    EXPECT_FALSE(looks_like_rtp(hex("80c90001 000000")));
    EXPECT_FALSE(looks_like_rtp(hex("16fefd00 00000000 0000")));
}

}  // namespace
}  // namespace live::wire::rtp
