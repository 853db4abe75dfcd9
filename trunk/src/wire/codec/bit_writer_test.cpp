#include "wire/codec/bit_writer.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/bit_reader.hpp"

namespace live::wire::codec {
namespace {

using Octets = std::vector<std::uint8_t>;

Octets octets(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

TEST(BitWriter, ReaderReadsTheOutput) {
    BitWriter out;
    out.bits(0x67, 8).flag(true).bits(0x12345678, 32).bits(0, 0).flag(false).bits(5, 3);
    EXPECT_EQ(out.size_bits(), 45U);
    BitReader in(out.written());
    EXPECT_EQ(*in.bits(8), 0x67U);
    EXPECT_TRUE(*in.flag());
    EXPECT_EQ(*in.bits(32), 0x12345678U);
    EXPECT_FALSE(*in.flag());
    EXPECT_EQ(*in.bits(3), 5U);
    EXPECT_EQ(*in.bits(3), 0U) << "the rest of the last byte";
    EXPECT_EQ(in.remaining(), 0U);
}

TEST(BitWriter, BitsAboveTheCountAreNotWritten) {
    BitWriter out;
    out.bits(0xFFFF'FFFF, 3).bits(0, 5);
    EXPECT_EQ(octets(out.written()), hex("e0"));
}

TEST(BitWriter, ExpGolomb) {
    // H.264, table 9-2.
    BitWriter small;
    small.ue(0).ue(1).ue(2).ue(3).ue(4);
    EXPECT_EQ(small.size_bits(), 1U + 3 + 3 + 5 + 5);
    EXPECT_EQ(octets(small.written()), hex("a6 42 80"));
    BitWriter all;
    const std::vector<std::uint32_t> values{0, 1, 2, 6, 7, 254, 255, 0xFFFF, 0x7FFF'FFFF, 0xFFFF'FFFE};
    for (const auto value : values)
        all.ue(value);
    BitReader in(all.written());
    for (const auto value : values)
        EXPECT_EQ(*in.ue(), value);
}

TEST(BitWriter, CopiesFromAnyBitToAnyBit) {
    const Octets source = hex("0123456789abcdef");
    for (std::size_t begin = 0; begin < 17; ++begin) {
        BitWriter out;
        out.bits(0, static_cast<unsigned>(begin % 5)).copy(source, begin, 64);
        BitReader copied(out.written());
        BitReader original(source);
        ASSERT_TRUE(copied.skip(begin % 5).ok());
        ASSERT_TRUE(original.skip(begin).ok());
        while (original.remaining() > 0)
            EXPECT_EQ(*copied.flag(), *original.flag()) << begin;
    }
    BitWriter nothing;
    EXPECT_TRUE(nothing.copy(source, 64, 64).written().empty());
}

TEST(BitWriter, TrailingBitsEndAWholeByte) {
    BitWriter none;
    EXPECT_EQ(octets(none.trailing_bits().written()), hex("80"));
    BitWriter seven;
    EXPECT_EQ(octets(seven.bits(0, 7).trailing_bits().written()), hex("01"));
    BitWriter eight;
    EXPECT_EQ(octets(eight.bits(0xFF, 8).trailing_bits().written()), hex("ff80"));
}

TEST(EmulationPrevention, InsertsWhereTheReaderRemoves) {
    EXPECT_EQ(with_emulation_prevention(hex("6700000102")), hex("670000030102"));
    EXPECT_EQ(with_emulation_prevention(hex("67000003")), hex("6700000303"));
    EXPECT_EQ(with_emulation_prevention(hex("67000004")), hex("67000004"));
    EXPECT_EQ(with_emulation_prevention(hex("67000000000000 01")), hex("67 000003 000003 000003 01"));
    EXPECT_TRUE(with_emulation_prevention({}).empty());
    for (const auto* text : {"6700000102", "67000003", "67000000000000000001", "67640028acb403c0113f2e02"})
        EXPECT_EQ(without_emulation_prevention(with_emulation_prevention(hex(text))), hex(text)) << text;
}

}  // namespace
}  // namespace live::wire::codec
