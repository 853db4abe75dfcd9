#include "base/bytes/byte_reader.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live {
namespace {

TEST(ByteReader, ReadsNumbersInNetworkOrder) {
    const auto bytes = hex("01 0203 040506 0708090a 0b0c0d0e0f101112 13141516 3ff8000000000000");
    ByteReader in(bytes);
    EXPECT_EQ(in.u8().value(), 0x01);
    EXPECT_EQ(in.u16be().value(), 0x0203);
    EXPECT_EQ(in.u24be().value(), 0x040506u);
    EXPECT_EQ(in.u32be().value(), 0x0708090Au);
    EXPECT_EQ(in.u64be().value(), 0x0B0C0D0E0F101112u);
    EXPECT_EQ(in.u32le().value(), 0x16151413u);
    EXPECT_EQ(in.f64be().value(), 1.5);
    EXPECT_TRUE(in.at_end());
}

TEST(ByteReader, DoesNotAdvanceWhenAReadRunsOut) {
    const auto bytes = hex("01 02 03");
    ByteReader in(bytes);
    EXPECT_TRUE(in.skip(1).ok());
    EXPECT_EQ(in.u24be().code(), Errc::need_more);
    EXPECT_EQ(in.u32be().code(), Errc::need_more);
    EXPECT_EQ(in.u32le().code(), Errc::need_more);
    EXPECT_EQ(in.u64be().code(), Errc::need_more);
    EXPECT_EQ(in.f64be().code(), Errc::need_more);
    EXPECT_EQ(in.take(3).code(), Errc::need_more);
    EXPECT_EQ(in.skip(3).code(), Errc::need_more);
    EXPECT_EQ(in.position(), 1u);
    EXPECT_EQ(in.remaining(), 2u);
    EXPECT_EQ(in.u16be().value(), 0x0203);
    EXPECT_EQ(in.u8().code(), Errc::need_more);
    EXPECT_EQ(in.peek_u8().code(), Errc::need_more);
}

TEST(ByteReader, ReportsTheMissingBytesAndTheirOffset) {
    const auto bytes = hex("01 02");
    ByteReader in(bytes);
    EXPECT_TRUE(in.skip(1).ok());
    EXPECT_EQ(in.u16be().error().sentence(), "wanted 2 bytes at offset 1 of 2");
}

TEST(ByteReader, TakesRangesWithoutCopying) {
    const auto bytes = hex("01 02 03 04");
    ByteReader in(bytes);
    EXPECT_EQ(in.peek_u8().value(), 1);
    const Bytes taken = in.take(2).value();
    EXPECT_EQ(taken.data(), bytes.data());
    EXPECT_EQ(taken.size(), 2u);
    EXPECT_EQ(in.rest().data(), bytes.data() + 2);
    EXPECT_EQ(in.rest().size(), 2u);
    EXPECT_EQ(in.position(), 2u) << "rest does not move";
}

TEST(ByteReader, ASizeThatWouldOverflowIsOnlyTooLong) {
    const auto bytes = hex("01 02");
    ByteReader in(bytes);
    EXPECT_TRUE(in.skip(1).ok());
    EXPECT_EQ(in.take(SIZE_MAX).code(), Errc::need_more);
    EXPECT_EQ(in.skip(SIZE_MAX).code(), Errc::need_more);
}

TEST(ByteReader, EmptyReadOfEmptyInputSucceeds) {
    ByteReader in({});
    EXPECT_TRUE(in.at_end());
    EXPECT_EQ(in.take(0).value().size(), 0u);
    EXPECT_TRUE(in.skip(0).ok());
}

}  // namespace
}  // namespace live
