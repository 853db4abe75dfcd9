#include "service/segments/segmenter.hpp"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "service/segments/segmenter_fixture.hpp"
#include "wire/ts/read/demuxer_fixture.hpp"

namespace live::service::segments {
namespace {

wire::ts::TestDemuxer demuxed(const std::vector<std::uint8_t>& bytes) {
    wire::ts::TestDemuxer demuxer;
    demuxer.feed(bytes);
    demuxer.finish();
    return demuxer;
}

class SegmenterTest : public testing::Test {
protected:
    explicit SegmenterTest(const CutRules& rules = two_second_cuts())
        : segmenter_(rules, Segmenter::Layout::together, make_ts()) {}

    void configure() {
        push(config_packet(MediaKind::video, avc_config()));
        push(config_packet(MediaKind::audio, aac_config()));
    }
    void push(const media::Packet& packet) {
        segmenter_.push(packet);
        output_.take(segmenter_);
    }
    // Pushes 25 frames per second with a key frame each `gop`, and audio, up to `end`.
    void play(MediaTime begin, MediaTime end, MediaTime gop) {
        for (MediaTime at = begin; at < end; at += 40ms) {
            push(video_packet(at, (at - begin) % gop == MediaTime::zero()));
            push(audio_packet(at + 5ms));
        }
    }
    void finish() {
        segmenter_.interrupt();
        output_.take(segmenter_);
    }

    Segmenter segmenter_;
    Together output_;
};

TEST_F(SegmenterTest, CutsAtTheFirstKeyFrameAfterItsDuration) {
    configure();
    play(0s, 10s, 1'200ms);
    finish();
    ASSERT_EQ(output_.segments.size(), 5U);
    EXPECT_EQ(output_.segments[0].duration, 2'400ms);
    EXPECT_EQ(output_.segments[3].start, 7'200ms);
    EXPECT_EQ(output_.segments[4].duration, 405ms) << "the last audio is as long as the one before";
    EXPECT_TRUE(output_.segments[0].discontinuity);
    EXPECT_FALSE(output_.segments[1].discontinuity);
}

TEST_F(SegmenterTest, ReportsWhetherASegmentStartsWithAKeyFrame) {
    configure();
    // The cut is made at audio, before a frame that does not start a GOP.
    play(0s, 7s, 10s);
    finish();
    ASSERT_GE(output_.segments.size(), 2U);
    EXPECT_TRUE(output_.segments[0].starts_with_key);
    EXPECT_FALSE(output_.segments[1].starts_with_key);
}

TEST_F(SegmenterTest, BeginsEachSegmentWithTables) {
    configure();
    play(0s, 6s, 1s);
    finish();
    ASSERT_EQ(output_.segments.size(), 3U);
    std::vector<std::uint8_t> all;
    for (const OneSegment& segment : output_.segments) {
        const auto bytes = bytes_of(segment.blocks);
        EXPECT_EQ(bytes.size(), segment.bytes);
        const auto demuxer = demuxed(bytes);
        ASSERT_GT(demuxer.packets.size(), 3U);
        EXPECT_EQ(demuxer.packets[0].first, 0);
        EXPECT_EQ(demuxer.packets[1].first, 0x1001);
        const auto first_frame = std::ranges::find(demuxer.units, 0x100, &wire::ts::TestUnit::pid);
        ASSERT_NE(first_frame, demuxer.units.end());
        EXPECT_TRUE(first_frame->random_access);
        EXPECT_TRUE(first_frame->clock.has_value());
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    // Continuity counters carry on: otherwise the demuxer would abort.
    EXPECT_EQ(demuxed(all).units.size(), 300U);
}

TEST_F(SegmenterTest, CutsAtAudioIfKeyFramesAreTooRare) {
    configure();
    play(0s, 9s, 100s);
    finish();
    ASSERT_EQ(output_.segments.size(), 3U);
    EXPECT_EQ(output_.segments[0].duration, 4'205ms);
    EXPECT_EQ(output_.segments[1].start, 4'205ms);
}

TEST_F(SegmenterTest, CutsAudioAloneAtTheHardLimit) {
    push(config_packet(MediaKind::audio, aac_config()));
    for (MediaTime at = 0s; at < 10s; at += 23ms)
        push(audio_packet(at));
    finish();
    ASSERT_EQ(output_.segments.size(), 3U);
    EXPECT_EQ(output_.segments[0].duration, 4'209ms);
}

TEST_F(SegmenterTest, BeginsWithAKeyFrame) {
    configure();
    push(video_packet(0ms, false));
    push(audio_packet(5ms));
    push(video_packet(40ms, false));
    push(video_packet(80ms, true));
    push(video_packet(120ms, false));
    push(video_packet(200ms, false));
    finish();
    ASSERT_EQ(output_.segments.size(), 1U);
    const auto demuxer = demuxed(bytes_of(output_.segments[0].blocks));
    EXPECT_EQ(std::ranges::count(demuxer.units, 0x100, &wire::ts::TestUnit::pid), 3);
}

TEST_F(SegmenterTest, DropsSegmentsBelowATenthOfASecond) {
    configure();
    push(video_packet(0ms, true));
    push(video_packet(40ms, false));
    finish();
    EXPECT_TRUE(output_.segments.empty());
    play(1s, 4s, 1s);
    finish();
    ASSERT_EQ(output_.segments.size(), 2U);
    EXPECT_TRUE(output_.segments[0].discontinuity) << "the discontinuity of the dropped segment";
}

TEST_F(SegmenterTest, BeginsASegmentForAnotherConfiguration) {
    configure();
    play(0s, 1s, 1s);
    push(config_packet(MediaKind::video, avc_config(), 1s));
    play(1s, 1'200ms, 1s);
    EXPECT_TRUE(output_.segments.empty());
    push(config_packet(MediaKind::video, avc_config(1), 1'200ms));
    play(1'200ms, 2'400ms, 1s);
    finish();
    ASSERT_EQ(output_.segments.size(), 2U);
    EXPECT_EQ(output_.segments[0].duration, 1'200ms);
    EXPECT_TRUE(output_.segments[1].discontinuity);
}

TEST_F(SegmenterTest, LateAudioIsADiscontinuity) {
    push(config_packet(MediaKind::video, avc_config()));
    for (MediaTime at = 0s; at < 3s; at += 40ms)
        push(video_packet(at, at % 1s == 0s));
    push(config_packet(MediaKind::audio, aac_config(), 3s));
    for (MediaTime at = 3s; at < 7s; at += 40ms) {
        push(video_packet(at, at % 1s == 0s));
        push(audio_packet(at));
    }
    finish();
    ASSERT_EQ(output_.segments.size(), 4U);
    EXPECT_FALSE(output_.segments[2].discontinuity);
    EXPECT_TRUE(output_.segments[1].discontinuity);
}

TEST_F(SegmenterTest, AnotherPublisherBeginsWithADiscontinuity) {
    configure();
    play(0s, 3s, 1s);
    segmenter_.restart();
    configure();
    push(video_packet(3s, false));
    play(3'040ms, 6s, 1s);
    finish();
    ASSERT_EQ(output_.segments.size(), 4U);
    EXPECT_EQ(output_.segments[2].start, 3'040ms);
    EXPECT_TRUE(output_.segments[2].discontinuity);
    EXPECT_FALSE(output_.segments[3].discontinuity);
}

TEST_F(SegmenterTest, LimitsTheBytesOfASegment) {
    configure();
    constexpr std::size_t kPicture = 1 << 20;
    media::Packet big = video_packet(0s, true);
    big.payload = picture(true, 0, kPicture);
    push(big);
    big.key = false;
    big.payload = picture(false, 0, kPicture);
    for (int i = 1; i < 150; ++i) {
        big.dts = i * 10ms;
        push(big);
    }
    finish();
    ASSERT_EQ(output_.segments.size(), 3U);
    EXPECT_LT(output_.segments[0].bytes, Segmenter::kSegmentBytesMax + 2 * kPicture);
}

// The caller frees them off the loop: a stream whose frames all have the same time fills a segment that is dropped.
TEST_F(SegmenterTest, ReturnsTheBlocksOfDroppedSegments) {
    configure();
    constexpr int kFrames = 5;
    const auto fill = [this] {
        media::Packet big = video_packet(0s, true);
        for (int i = 0; i < kFrames; ++i) {
            big.key = i == 0;
            big.payload = picture(big.key, 0, 2 * Segmenter::kBlockBytes);
            push(big);
        }
    };
    const auto expect_all_of_it = [this] {
        std::size_t bytes = 0;
        for (const Block& block : segmenter_.take_dropped_blocks())
            bytes += block->size();
        EXPECT_GT(bytes, kFrames * 2 * Segmenter::kBlockBytes);
        EXPECT_TRUE(segmenter_.take_dropped_blocks().empty());
    };
    fill();
    finish();
    EXPECT_TRUE(output_.segments.empty());
    expect_all_of_it();
    fill();
    segmenter_.drop_open();
    expect_all_of_it();
    play(1s, 4s, 1s);
    finish();
    EXPECT_TRUE(segmenter_.take_dropped_blocks().empty()) << "the list owns its segments";
}

TEST_F(SegmenterTest, WritesAFrameIntoTheGivenMemory) {
    configure();
    push(video_packet(0s, true));
    media::Packet big = video_packet(40ms, false);
    big.payload = picture(false, 0, 4 << 20);
    std::vector<std::uint8_t> room;
    room.reserve((4 << 20) / 40 * 41 + 10'000);
    const std::uint8_t* const at = room.data();
    segmenter_.give_buffer(big, std::move(room));
    push(big);
    play(1s, 4s, 1s);
    finish();
    ASSERT_FALSE(output_.segments.empty());
    const auto& blocks = output_.segments[0].blocks;
    EXPECT_TRUE(std::ranges::any_of(blocks, [at](const Block& block) { return block->data() == at; })) << "without a copy";
    EXPECT_EQ(demuxed(bytes_of(blocks)).units.size(), 2U + 50U);
}

TEST_F(SegmenterTest, IgnoresMemoryForAnUnknownTrack) {
    segmenter_.give_buffer(video_packet(0s, true), std::vector<std::uint8_t>(100));
    configure();
    play(0s, 3s, 1s);
    finish();
    EXPECT_EQ(output_.segments.size(), 2U);
}

class PartsTest : public SegmenterTest {
protected:
    PartsTest() : SegmenterTest(two_second_cuts(200ms)) {}
};

TEST_F(PartsTest, AddUpToTheSegment) {
    configure();
    play(0s, 6s, 1s);
    finish();
    ASSERT_EQ(output_.segments.size(), 3U);
    ASSERT_EQ(output_.parts.size(), 30U);
    std::size_t next = 0;
    for (const OneSegment& segment : output_.segments) {
        MediaTime time{};
        std::vector<std::uint8_t> bytes;
        for (; bytes.size() < segment.bytes; ++next) {
            const auto& part = output_.parts.at(next);
            EXPECT_EQ(part.duration, 200ms);
            EXPECT_EQ(part.independent, next % 5 == 0) << next;
            time += part.duration;
            const auto more = bytes_of(part.blocks);
            bytes.insert(bytes.end(), more.begin(), more.end());
        }
        // The last audio frame ends 5 ms after the video.
        EXPECT_GE(time + 5ms, segment.duration);
        EXPECT_EQ(bytes, bytes_of(segment.blocks));
    }
}

TEST_F(PartsTest, AreIndependentIfThereIsOnlyAudio) {
    push(config_packet(MediaKind::audio, aac_config()));
    for (MediaTime at = 0s; at < 3s; at += 23ms)
        push(audio_packet(at));
    finish();
    ASSERT_GT(output_.parts.size(), 12U);
    EXPECT_TRUE(std::ranges::all_of(output_.parts, &OnePart::independent));
}

// The publisher's timestamps jump, as if a file starts again, or frames are missing. The playlist has the maximum duration of a
// part.
TEST_F(PartsTest, EndBeforeAGap) {
    constexpr std::array<MediaTime, 4> kJumps = {16ms, 40ms, 350ms, 3s};
    for (const MediaTime jump : kJumps) {
        for (int before = 1; before <= 26; ++before) {
            segmenter_.restart();
            segmenter_.leave_timeline();
            output_ = {};
            configure();
            MediaTime at = 20s;
            for (int frame = 0; frame < 75; ++frame) {
                push(video_packet(at, frame % 25 == 0));
                push(audio_packet(at + 5ms));
                at += frame == 25 + before ? 40ms + jump : 40ms;
            }
            finish();
            ASSERT_GE(output_.parts.size(), 15U);
            for (const auto& part : output_.parts)
                EXPECT_LE(part.duration, 200ms) << jump.count() << " us behind frame " << before;
        }
    }
}

// Only the first one is longer, until it is certain that the video has stopped.
TEST_F(PartsTest, KeepTheirDurationWhenVideoStops) {
    configure();
    play(0s, 1s, 1s);
    for (MediaTime at = 1s; at < 3s; at += 23ms)
        push(audio_packet(at));
    finish();
    ASSERT_GE(output_.parts.size(), 13U);
    for (const auto& part : output_.parts)
        EXPECT_LE(part.duration, 200ms);
    for (std::size_t i = 6; i + 1 < output_.parts.size(); ++i)
        EXPECT_GE(output_.parts[i].duration, 170ms) << i;
}

// Frames that are far apart last until the next one.
TEST_F(PartsTest, AreAsLongAsFramesThatAreFarApart) {
    configure();
    for (int frame = 0; frame < 13; ++frame)
        push(video_packet(frame * 333ms, frame % 3 == 0));
    ASSERT_EQ(output_.parts.size(), 12U);
    for (const auto& part : output_.parts)
        EXPECT_EQ(part.duration, 333ms);
}

// And not below 85 % of it, for any frame rate.
TEST_F(PartsTest, AreNotLongerThanTheTarget) {
    for (const int rate : {10, 15, 16, 20, 25, 30, 36, 48, 50, 60, 75, 90, 120}) {
        segmenter_.restart();
        segmenter_.leave_timeline();
        output_ = {};
        configure();
        for (int frame = 0; frame < rate * 6; ++frame)
            push(video_packet(std::chrono::milliseconds(1'000 * frame / rate), frame % (2 * rate) == 0));
        ASSERT_GE(output_.parts.size(), 28U) << rate;
        for (std::size_t i = 0; i < output_.parts.size(); ++i) {
            const bool is_last = i + 1 < output_.parts.size() && output_.parts[i + 1].independent;
            EXPECT_LE(output_.parts[i].duration, 200ms) << rate << ", part " << i;
            EXPECT_GE(output_.parts[i].duration, is_last ? 1ms : 170ms) << rate << ", part " << i;
        }
    }
}

class ShortPartsTest : public SegmenterTest {
protected:
    ShortPartsTest() : SegmenterTest(two_second_cuts(40ms)) {}
};

TEST_F(ShortPartsTest, AreKeptOnceTheyAreEmitted) {
    configure();
    play(0s, 2'080ms, 2s);
    finish();
    ASSERT_EQ(output_.segments.size(), 2U) << "85 ms, of which 40 have been emitted";
}

}  // namespace
}  // namespace live::service::segments
