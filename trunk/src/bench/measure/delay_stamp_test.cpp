#include "bench/measure/delay_stamp.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"

namespace live::bench {
namespace {

using Octets = std::vector<std::uint8_t>;

constexpr SystemMicros kNow{1'730'000'000'123'456};

// An inter frame of one NAL unit of three bytes.
const Octets kFrame = hex("27 01 000000 00000003 41aabb");
const Octets kFrameWithDelimiter = hex("17 01 000000 00000002 09f0 00000003 65aabb");

TEST(DelayStamp, InsertsTheStampBeforeTheFrame) {
    for (const Octets& frame : {kFrame, kFrameWithDelimiter}) {
        const auto stamped = stamped_video(frame, kNow);
        ASSERT_TRUE(stamped.has_value());
        EXPECT_EQ(stamped->size(), frame.size() + 40);
        EXPECT_EQ(find_video_stamp(*stamped), kNow);
        EXPECT_EQ(find_video_stamp(Bytes(*stamped).first(std::min<std::size_t>(stamped->size(), 64))), kNow);
        EXPECT_EQ(Octets(stamped->end() - 7, stamped->end()), Octets(frame.end() - 7, frame.end()));
    }
}

TEST(DelayStamp, KeepsTheDelimiterFirst) {
    const auto stamped = stamped_video(kFrameWithDelimiter, kNow);
    EXPECT_EQ(Octets(stamped->begin(), stamped->begin() + 11),
              Octets(kFrameWithDelimiter.begin(), kFrameWithDelimiter.begin() + 11));
    EXPECT_EQ((*stamped)[15], 6);  // SEI
}

TEST(DelayStamp, WritesAValidNalUnit) {
    const auto stamped = stamped_video(kFrame, kNow);
    EXPECT_EQ(Octets(stamped->begin() + 5, stamped->begin() + 12), hex("00000024 06 05 20"));
    EXPECT_EQ((*stamped)[5 + 4 + 0x24 - 1], 0x80);
    // Nothing in it needs emulation prevention.
    for (std::size_t i = 9; i < 5 + 4 + 0x24; ++i)
        EXPECT_NE((*stamped)[i], 0);
}

TEST(DelayStamp, StampsOnlyH264Frames) {
    EXPECT_FALSE(stamped_video(hex("17 00 000000 01640028ff"), kNow).has_value());   // configuration
    EXPECT_FALSE(stamped_video(hex("22 01 000000 00000001 41"), kNow).has_value());  // Sorenson
    EXPECT_FALSE(stamped_video(hex("a1 68766331 000000 00000001 41"), kNow).has_value());
    EXPECT_FALSE(stamped_video({}, kNow).has_value());
}

TEST(DelayStamp, WithoutAStampNothingIsFound) {
    EXPECT_FALSE(find_video_stamp(kFrame).has_value());
    EXPECT_FALSE(find_data_stamp(kFrame).has_value());
    const auto stamped = *stamped_video(kFrame, kNow);
    for (std::size_t size = 0; size < 5 + 4 + 3 + 32; ++size)
        EXPECT_FALSE(find_video_stamp(Bytes(stamped).first(size)).has_value()) << size;
    Octets odd = stamped;
    odd[30] = 'x';  // a digit
    EXPECT_FALSE(find_video_stamp(odd).has_value());
}

TEST(DelayStamp, WritesTheStampIntoADataMessage) {
    const auto message = stamp_message(kNow);
    EXPECT_EQ(find_data_stamp(message), kNow);
    for (std::size_t size = 0; size < message.size(); ++size)
        EXPECT_FALSE(find_data_stamp(Bytes(message).first(size)).has_value());
}

TEST(DelayStamp, LengthsOfFourBytesAreReported) {
    EXPECT_TRUE(has_long_nal_lengths(hex("17 00 000000 0164001f ff e1")));
    EXPECT_FALSE(has_long_nal_lengths(hex("17 00 000000 0164001f fd e1")));
    EXPECT_FALSE(has_long_nal_lengths(hex("17 00 000000 01")));
}

TEST(DelayStamp, FindsTheStampInSingleAndAggregatePackets) {
    const Octets unit = stamp_unit(kNow);
    EXPECT_EQ(unit.size(), 36U);
    EXPECT_EQ(find_packet_stamp(unit), kNow);
    // STAP-A of a parameter set, the stamp and a small slice.
    ByteWriter out;
    out.u8(0x78).u16be(2).bytes(hex("68ee")).u16be(36).bytes(unit).u16be(3).bytes(hex("41aabb"));
    const Octets aggregate = out.release();
    EXPECT_EQ(find_packet_stamp(aggregate), kNow);
    for (std::size_t bytes = 0; bytes < 1 + 4 + 2 + 36; ++bytes)
        EXPECT_EQ(find_packet_stamp(Bytes(aggregate).first(bytes)), std::nullopt) << bytes;
    EXPECT_EQ(find_packet_stamp(hex("41aabb")), std::nullopt);
    EXPECT_EQ(find_packet_stamp(hex("7c8541aabb")), std::nullopt);
    EXPECT_EQ(find_packet_stamp(hex("7800000000")), std::nullopt);
}

}  // namespace
}  // namespace live::bench
