#include "wire/rtp_payload/mpeg_audio.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/audio/mp3.hpp"
#include "wire/rtp_payload/payload_fixture.hpp"

namespace live::wire::rtp_payload {
namespace {

// MPEG-1 layer III, 128 kbit/s, 44.1 kHz: 417 bytes.
std::vector<std::uint8_t> mp3_frame(std::uint8_t filler) {
    auto frame = hex("fffb9000");
    const auto header = codec::parse_mp3_header(frame);
    EXPECT_TRUE(header.ok());
    frame.resize(header.ok() ? header->frame_bytes : 0, filler);
    return frame;
}

std::vector<Frame> taken(MpegAudioDepacketizer& depacketizer) {
    std::vector<Frame> frames;
    while (auto frame = depacketizer.poll())
        frames.push_back(*std::move(frame));
    return frames;
}

TEST(MpegAudioInRtp, ReadsWhatItWrites) {
    MpegAudioDepacketizer depacketizer(90'000);
    std::uint64_t sequence = 1;
    for (const std::size_t room : {64U, 200U, 1'400U}) {
        PayloadList payloads;
        ASSERT_TRUE(packetize_mpeg_audio(mp3_frame(5), room, payloads).ok());
        EXPECT_EQ(payloads.size(), (417 + room - 5) / (room - 4));
        for (std::size_t i = 0; i < payloads.size(); ++i)
            ASSERT_TRUE(depacketizer.push({sequence++, 77, false, payloads[i]}).ok());
        const auto frames = taken(depacketizer);
        ASSERT_EQ(frames.size(), 1U) << room;
        EXPECT_EQ(frames[0].data, mp3_frame(5));
    }
    PayloadList none;
    EXPECT_EQ(packetize_mpeg_audio(std::vector<std::uint8_t>(70'000), 1'400, none).code(), Errc::limit);
}

TEST(MpegAudioInRtp, ReadsSeveralFramesOfAPacket) {
    auto both = hex("00000000");
    for (const std::uint8_t filler : {std::uint8_t{1}, std::uint8_t{2}}) {
        const auto frame = mp3_frame(filler);
        both.insert(both.end(), frame.begin(), frame.end());
    }
    MpegAudioDepacketizer depacketizer(90'000);
    ASSERT_TRUE(depacketizer.push({1, 100, true, both}).ok());
    const auto frames = taken(depacketizer);
    ASSERT_EQ(frames.size(), 2U);
    EXPECT_EQ(frames[1].timestamp, 100U + 2'351U);
    EXPECT_EQ(frames[1].data, mp3_frame(2));
}

TEST(MpegAudioInRtp, WaitsForTheRestOfATruncationAndDropsFramesWithALoss) {
    PayloadList payloads;
    ASSERT_TRUE(packetize_mpeg_audio(mp3_frame(5), 1'400, payloads).ok());
    for (std::size_t size = 0; size < payloads[0].size(); ++size) {
        MpegAudioDepacketizer depacketizer(90'000);
        EXPECT_EQ(depacketizer.push({1, 0, true, payloads[0].first(size)}).ok(), size >= 8) << size;
        EXPECT_FALSE(depacketizer.poll());
    }
    PayloadList parts;
    ASSERT_TRUE(packetize_mpeg_audio(mp3_frame(5), 100, parts).ok());
    MpegAudioDepacketizer depacketizer(90'000);
    EXPECT_TRUE(depacketizer.push({1, 0, false, parts[0]}).ok());
    for (std::size_t i = 2; i < parts.size(); ++i)
        EXPECT_FALSE(depacketizer.push({1 + i, 0, false, parts[i]}).ok());
    EXPECT_FALSE(depacketizer.poll());
}

}  // namespace
}  // namespace live::wire::rtp_payload
