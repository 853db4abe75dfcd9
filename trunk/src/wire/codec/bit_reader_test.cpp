#include "wire/codec/bit_reader.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::codec {
namespace {

TEST(BitReader, ReadsAcrossBytes) {
    const auto bytes = hex("a5 c3 ff 00 12");
    BitReader in(bytes);
    EXPECT_EQ(in.bits(4).value(), 0xAu);
    EXPECT_EQ(in.bits(8).value(), 0x5Cu);
    EXPECT_TRUE(in.skip(3).ok());
    EXPECT_EQ(in.flag().value(), true);
    EXPECT_EQ(in.bits(0).value(), 0u);
    EXPECT_EQ(in.bits(24).value(), 0xFF0012u);
    EXPECT_EQ(in.remaining(), 0u);
    EXPECT_EQ(in.flag().code(), Errc::need_more);
    EXPECT_EQ(in.skip(1).code(), Errc::need_more);
}

TEST(BitReader, ReadsThirtyTwoBitsAtAnyOffset) {
    const auto bytes = hex("7f ff ff ff 80");
    BitReader in(bytes);
    EXPECT_EQ(in.bits(1).value(), 0u);
    EXPECT_EQ(in.bits(32).value(), 0xFFFFFFFFu);
    EXPECT_EQ(in.remaining(), 7u);
}

TEST(BitReader, ReadsExpGolomb) {
    // 1, 010, 011, 00100, 00101 and a few spare bits.
    const auto bytes = hex("a6 42 98");
    BitReader in(bytes);
    for (const std::uint32_t wanted : {0u, 1u, 2u, 3u, 4u})
        EXPECT_EQ(in.ue().value(), wanted);
    BitReader again(bytes);
    for (const std::int64_t wanted : {0, 1, -1, 2, -2})
        EXPECT_EQ(again.se().value(), wanted);
}

TEST(BitReader, BoundsExpGolomb) {
    const auto largest = hex("00 00 00 01 ff ff ff fe");  // 31 zeros and 31 ones
    EXPECT_EQ(BitReader(largest).ue().value(), 0xFFFFFFFEu);
    const auto thirty_two = hex("00 00 00 00 80 00 00 00 00");
    EXPECT_EQ(BitReader(thirty_two).ue().value(), 0xFFFFFFFFu);
    const auto above = hex("00 00 00 00 80 00 00 00 80");
    EXPECT_EQ(BitReader(above).ue().code(), Errc::malformed);
    const auto zeros = hex("00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(BitReader(zeros).ue().code(), Errc::malformed);
    EXPECT_EQ(BitReader(hex("00 00")).ue().code(), Errc::need_more);
    const auto five = hex("30");  // 00110: 5
    EXPECT_EQ(BitReader(five).ue_up_to(5, "x").value(), 5u);
    EXPECT_EQ(BitReader(five).ue_up_to(4, "x").code(), Errc::malformed);
}

TEST(EmulationPrevention, TakesTheThreeOutAfterTwoZeros) {
    EXPECT_EQ(without_emulation_prevention(hex("67 00 00 03 01")), hex("67 00 00 01"));
    EXPECT_EQ(without_emulation_prevention(hex("00 00 03 00 00 03 00 00 03")), hex("00 00 00 00 00 00"));
    EXPECT_EQ(without_emulation_prevention(hex("00 03 00 03")), hex("00 03 00 03"));
    EXPECT_EQ(without_emulation_prevention(hex("00 00 00 03")), hex("00 00 00"));
    EXPECT_EQ(without_emulation_prevention({}), hex(""));
}

}  // namespace
}  // namespace live::wire::codec
