#include "wire/ts/crc32.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::ts {
namespace {

TEST(Crc32Mpeg2, GivesTheKnownValues) {
    EXPECT_EQ(crc32_mpeg2({}), 0xFFFF'FFFFu);
    EXPECT_EQ(crc32_mpeg2(as_bytes("123456789")), 0x0376'E6E7u) << "the check value of CRC-32/MPEG-2";
}

TEST(Crc32Mpeg2, IsZeroOverASectionWithItsChecksum) {
    // A program association table written by ffmpeg.
    EXPECT_EQ(crc32_mpeg2(hex("00b00d0001c100000001f0002ab104b2")), 0u);
    EXPECT_NE(crc32_mpeg2(hex("00b00d0001c100000001f0012ab104b2")), 0u);
}

}  // namespace
}  // namespace live::wire::ts
