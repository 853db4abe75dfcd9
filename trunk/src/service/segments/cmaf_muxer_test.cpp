#include "service/segments/cmaf_muxer.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "service/segments/segmenter.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::segments {
namespace {

Segmenter two_seconds(std::optional<MediaTime> part = {}) {
    return {two_second_cuts(part), Segmenter::Layout::together, make_cmaf()};
}

Together play(Segmenter& segmenter, MediaTime end, MediaTime change = MediaTime::max()) {
    Together output;
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    segmenter.push(config_packet(MediaKind::audio, aac_config()));
    for (MediaTime at = 0s; at < end; at += 40ms) {
        if (at == change)
            segmenter.push(config_packet(MediaKind::video, avc_config(1), at));
        segmenter.push(video_packet(at, at % 1s == 0s || at == change));
        segmenter.push(audio_packet(at + 5ms));
    }
    segmenter.interrupt();
    output.take(segmenter);
    return output;
}

std::string_view type_of(const Block& block) { return as_text(Bytes(*block)).substr(4, 4); }

TEST(CmafMuxer, WritesOneHeaderUntilTheTracksChange) {
    Segmenter segmenter = two_seconds();
    const Together output = play(segmenter, 6s, 4'400ms);
    ASSERT_EQ(output.segments.size(), 4U);
    ASSERT_NE(output.segments[0].init, nullptr);
    EXPECT_EQ(type_of(output.segments[0].init), "ftyp");
    EXPECT_EQ(output.segments[0].init, output.segments[2].init);
    EXPECT_NE(output.segments[2].init, output.segments[3].init);
    EXPECT_EQ(output.segments[2].duration, 400ms);
    EXPECT_TRUE(output.segments[3].discontinuity);
    for (const OneSegment& segment : output.segments)
        EXPECT_EQ(type_of(segment.blocks.front()), "moof");
}

TEST(CmafMuxer, WritesALargeFrameIntoTheGivenMemory) {
    Segmenter segmenter = two_seconds();
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    const media::Packet large = media::tag_packet(MediaKind::video, true, false, 0s, picture(true, 0, 4 << 20));
    std::vector<std::uint8_t> room;
    room.reserve((4 << 20) + 10'000);
    const std::uint8_t* const memory = room.data();
    segmenter.give_buffer(large, std::move(room));
    segmenter.push(large);
    for (MediaTime at = 40ms; at < 3s; at += 40ms)
        segmenter.push(video_packet(at, at % 1s == 0s));
    segmenter.interrupt();
    Together output;
    output.take(segmenter);
    ASSERT_FALSE(output.segments.empty());
    EXPECT_EQ(output.segments[0].blocks.front()->data(), memory);
    EXPECT_EQ(type_of(output.segments[0].blocks.front()), "moof");
}

TEST(CmafMuxer, SplitsALargeSegmentIntoFragments) {
    Segmenter segmenter = two_seconds();
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    std::size_t largest = 0;
    for (MediaTime at = 0s; at <= 2s; at += 40ms) {
        segmenter.push(media::tag_packet(MediaKind::video, at % 2s == 0s, false, at, picture(at % 2s == 0s, 0, 200'000)));
        Together output;
        output.take(segmenter);
        for (const OneSegment& segment : output.segments)
            for (const Block& block : segment.blocks)
                largest = std::max(largest, block->size());
    }
    EXPECT_GT(largest, wire::mp4::FragmentWriter::kLiveBytes - 200'000) << "10 MB in all";
    EXPECT_LT(largest, wire::mp4::FragmentWriter::kLiveBytes + 2'000) << "its boxes";
}

// Copying it takes milliseconds, so nothing else is copied with it.
TEST(CmafMuxer, WritesAnOversizedFrameAsAFragment) {
    Segmenter segmenter = two_seconds();
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    std::vector<std::size_t> sizes;
    for (MediaTime at = 0s; at <= 2s; at += 500ms) {
        const std::size_t bytes = at == 1s ? 4'000'000 : 1'500'000;
        segmenter.push(media::tag_packet(MediaKind::video, at % 2s == 0s, false, at, picture(at % 2s == 0s, 0, bytes)));
        Together output;
        output.take(segmenter);
        for (const OneSegment& segment : output.segments)
            for (const Block& block : segment.blocks)
                sizes.push_back(block->size() / 100'000);
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{15, 15, 40, 15}));
}

TEST(CmafMuxer, WritesEachPartAsAFragment) {
    Segmenter segmenter = two_seconds(200ms);
    const Together output = play(segmenter, 4s);
    ASSERT_EQ(output.parts.size(), 20U);
    for (const OnePart& part : output.parts) {
        ASSERT_EQ(part.blocks.size(), 1U);
        EXPECT_EQ(type_of(part.blocks.front()), "moof");
        EXPECT_EQ(part.init, output.parts.front().init);
    }
    EXPECT_EQ(output.segments.at(0).blocks.size(), 10U);
}

// The cut is at a key frame, because a player may start with that segment.
TEST(CmafMuxer, LateAudioNeedsANewSegment) {
    Segmenter segmenter = two_seconds();
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    for (MediaTime at = 0s; at < 4s; at += 40ms) {
        if (at == 400ms)
            segmenter.push(config_packet(MediaKind::audio, aac_config(), at));
        segmenter.push(video_packet(at, at % 1s == 0s));
        if (at >= 400ms)
            segmenter.push(audio_packet(at + 5ms));
    }
    segmenter.interrupt();
    Together output;
    output.take(segmenter);
    const auto& made = output.segments;
    ASSERT_EQ(made.size(), 3U);
    EXPECT_EQ(made[0].duration, 1s);
    EXPECT_NE(made[0].init, made[1].init);
    EXPECT_EQ(made[1].start, 1s);
    EXPECT_TRUE(made[1].discontinuity);
}

TEST(CmafMuxer, LateAudioWaitsForAKeyFrameUntilTheHardCut) {
    Segmenter segmenter = two_seconds();
    segmenter.push(config_packet(MediaKind::video, avc_config()));
    for (MediaTime at = 0s; at < 6s; at += 40ms) {
        if (at == 400ms)
            segmenter.push(config_packet(MediaKind::audio, aac_config(), at));
        segmenter.push(video_packet(at, at == 0s));
        if (at >= 400ms)
            segmenter.push(audio_packet(at + 5ms));
    }
    segmenter.interrupt();
    Together output;
    output.take(segmenter);
    const auto& made = output.segments;
    ASSERT_EQ(made.size(), 2U);
    EXPECT_EQ(made[0].duration, 4'205ms);
}

}  // namespace
}  // namespace live::service::segments
