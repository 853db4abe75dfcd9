#include "base/bytes/byte_writer.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live {
namespace {

TEST(ByteWriter, WritesNumbersInNetworkOrder) {
    ByteWriter out;
    out.u8(0x01).u16be(0x0203).u24be(0x040506).u32be(0x0708090A).u64be(0x0B0C0D0E0F101112).u32le(0x16151413).f64be(1.5);
    EXPECT_EQ(out.release(), hex("01 0203 040506 0708090a 0b0c0d0e0f101112 13141516 3ff8000000000000"));
}

TEST(ByteWriter, WritesRangesTextAndZeros) {
    ByteWriter out;
    out.bytes(hex("aa bb")).text("ok").zeros(2).bytes({});
    EXPECT_EQ(out.size(), 6u);
    EXPECT_EQ(out.release(), hex("aa bb 6f 6b 00 00"));
}

TEST(ByteWriter, KeepsOnlyTheLowBytesOfAThreeByteNumber) { EXPECT_EQ(ByteWriter().u24be(0xFF010203).release(), hex("01 02 03")); }

TEST(ByteWriter, PatchesWrittenBytes) {
    ByteWriter out;
    out.zeros(8);
    out.patch_u32be(0, 0x01020304);
    out.patch_u24be(5, 0x0A0B0C);
    EXPECT_EQ(out.release(), hex("01020304 00 0a0b0c"));
}

TEST(ByteWriter, IsEmptyAfterRelease) {
    ByteWriter out;
    out.u8(1);
    EXPECT_EQ(out.release().size(), 1u);
    EXPECT_EQ(out.size(), 0u);
    EXPECT_EQ(out.u8(2).release(), hex("02"));
}

TEST(ByteWriterDeathTest, PatchingBeyondTheEndAborts) {
    ByteWriter out;
    out.zeros(4);
    EXPECT_DEATH(out.patch_u32be(1, 0), "CHECK failed");
    EXPECT_DEATH(out.patch_u24be(2, 0), "CHECK failed");
    EXPECT_DEATH(out.patch_u32be(SIZE_MAX, 0), "CHECK failed");
}

}  // namespace
}  // namespace live
