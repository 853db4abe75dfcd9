#include "media/rtp/audio_sample_clock.hpp"

#include <gtest/gtest.h>

namespace live::media {
namespace {

using Is = AudioSampleClock::Is;

TEST(AudioSampleClock, CountsSamplesAndIgnoresRounding) {
    AudioSampleClock line(44'100);
    EXPECT_EQ(line.check(5s).is, Is::restart);
    // Six hours of AAC with timestamps in whole milliseconds.
    for (std::int64_t i = 0; i < 930'000; ++i) {
        const MediaTime time = 5s + std::chrono::floor<std::chrono::milliseconds>(MediaTime(i * 1'024 * 1'000'000 / 44'100));
        const auto verdict = line.check(time);
        ASSERT_EQ(verdict.is, Is::in_line);
        ASSERT_EQ(verdict.missing, 0);
        line.advance(1'024);
    }
    EXPECT_EQ(line.samples(), 930'000LL * 1'024);
}

TEST(AudioSampleClock, ReportsMissingSamples) {
    AudioSampleClock line(48'000);
    line.check(0ms);
    line.advance(48'000);
    EXPECT_EQ(line.check(1'040ms).missing, 0) << "still within the tolerance";
    const auto verdict = line.check(1'041ms);
    EXPECT_EQ(verdict.is, Is::in_line);
    EXPECT_EQ(verdict.missing, 41 * 48);
    line.advance(verdict.missing);
    EXPECT_EQ(line.end(), 1'041ms);
}

TEST(AudioSampleClock, BeginsAnewBehindALongHole) {
    AudioSampleClock line(48'000);
    line.check(0ms);
    line.advance(960);
    EXPECT_EQ(line.check(1'020ms).is, Is::in_line) << "exactly the longest hole that is filled";
    EXPECT_EQ(line.check(1'021ms).is, Is::restart);
    EXPECT_EQ(line.begin(), 1'021ms);
    EXPECT_EQ(line.samples(), 0);
}

TEST(AudioSampleClock, LeavesOutEarlyFrames) {
    AudioSampleClock line(48'000);
    line.check(0ms);
    line.advance(48'000);
    EXPECT_EQ(line.check(960ms).is, Is::in_line);
    EXPECT_EQ(line.check(959ms).is, Is::early);
    EXPECT_EQ(line.check(-5s).is, Is::early);
}

}  // namespace
}  // namespace live::media
