#include "wire/rtp_payload/ac3.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/ac3.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

// A frame of 48 kHz and 448 kbit/s, 1,792 bytes: ATSC A/52, table 5.18.
std::vector<std::uint8_t> ac3_frame(std::uint8_t filler) {
    auto frame = hex("0b77 0000 1e 40 00");
    const auto header = codec::parse_ac3_header(frame);
    EXPECT_TRUE(header.ok());
    frame.resize(header.ok() ? header->frame_bytes : 0, filler);
    return frame;
}

std::vector<Frame> taken(Ac3Depacketizer& depacketizer) {
    std::vector<Frame> frames;
    while (auto frame = depacketizer.poll())
        frames.push_back(*std::move(frame));
    return frames;
}

TEST(Ac3InRtp, WritesTheHeadersOfTheStandard) {
    const auto frame = ac3_frame(1);
    ASSERT_EQ(frame.size(), 1'792U);
    PayloadList whole;
    ASSERT_TRUE(packetize_ac3(frame, 2'000, whole).ok());
    ASSERT_EQ(whole.size(), 1U);
    EXPECT_EQ(whole[0][0], 0);
    EXPECT_EQ(whole[0][1], 1);
    PayloadList two;
    ASSERT_TRUE(packetize_ac3(frame, 1'400, two).ok());
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two[0][0], 1) << "five eighths and more";
    EXPECT_EQ(two[1][0], 3);
    EXPECT_EQ(two[1][1], 2);
    PayloadList four;
    ASSERT_TRUE(packetize_ac3(frame, 500, four).ok());
    EXPECT_EQ(four[0][0], 2) << "less than five eighths";
}

TEST(Ac3InRtp, ReadsWhatItWritesAndSeveralFramesOfAPacket) {
    Ac3Depacketizer depacketizer(48'000);
    std::uint64_t sequence = 1;
    for (const std::size_t room : {64U, 500U, 1'400U, 2'000U}) {
        PayloadList payloads;
        ASSERT_TRUE(packetize_ac3(ac3_frame(7), room, payloads).ok());
        for (std::size_t i = 0; i < payloads.size(); ++i)
            ASSERT_TRUE(depacketizer.push({sequence++, 77, i + 1 == payloads.size(), payloads[i]}).ok());
        const auto frames = taken(depacketizer);
        ASSERT_EQ(frames.size(), 1U) << room;
        EXPECT_EQ(frames[0].data, ac3_frame(7));
    }
    auto both = hex("0002");
    for (const std::uint8_t filler : {std::uint8_t{1}, std::uint8_t{2}}) {
        const auto frame = ac3_frame(filler);
        both.insert(both.end(), frame.begin(), frame.end());
    }
    ASSERT_TRUE(depacketizer.push({sequence, 100, true, both}).ok());
    const auto frames = taken(depacketizer);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[1].timestamp, 100U + 1'536U);
}

TEST(Ac3InRtp, RefusesTruncationsAndDropsFramesWithALoss) {
    PayloadList payloads;
    ASSERT_TRUE(packetize_ac3(ac3_frame(7), 2'000, payloads).ok());
    for (std::size_t size = 0; size < payloads[0].size(); size += size < 20 ? 1 : 97) {
        Ac3Depacketizer depacketizer(48'000);
        const bool is_accepted = depacketizer.push({1, 0, true, payloads[0].first(size)}).ok();
        EXPECT_EQ(is_accepted, size == 2) << size;
        EXPECT_FALSE(depacketizer.poll());
    }
    PayloadList parts;
    ASSERT_TRUE(packetize_ac3(ac3_frame(7), 500, parts).ok());
    Ac3Depacketizer depacketizer(48'000);
    EXPECT_TRUE(depacketizer.push({1, 0, false, parts[0]}).ok());
    EXPECT_FALSE(depacketizer.push({3, 0, false, parts[2]}).ok());
    EXPECT_FALSE(depacketizer.push({4, 0, true, parts[3]}).ok());
    EXPECT_FALSE(depacketizer.poll());
    PayloadList none;
    EXPECT_EQ(packetize_ac3(std::vector<std::uint8_t>(codec::kAc3FrameBytesMax + 1), 1'400, none).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::rtp_payload
