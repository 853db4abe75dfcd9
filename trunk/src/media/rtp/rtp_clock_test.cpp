#include "media/rtp/rtp_clock.hpp"

#include <gtest/gtest.h>

#include "media/rtp/rtp_log.hpp"

namespace live::media {
namespace {

constexpr std::uint32_t kVideoRate = 90'000;
constexpr std::uint32_t kAudioRate = 48'000;

TimePoint at(std::int64_t ms) { return TimePoint{} + std::chrono::milliseconds(ms); }

TEST(RtpClock, FollowsTimestampsAndNotArrivals) {
    RtpClock clock(0ms);
    const auto first = clock.place(MediaKind::video, 1'000, kVideoRate, at(500), {});
    EXPECT_EQ(first.time, 0ms);
    EXPECT_EQ(first.timestamp, 0U);
    const auto late = clock.place(MediaKind::video, 1'000 + 3'600, kVideoRate, at(900), {});
    EXPECT_EQ(late.time, 40ms);
    EXPECT_EQ(late.timestamp, 3'600U);
}

TEST(RtpClock, PutsKindsTogetherByArrivalAtFirst) {
    RtpClock clock(10s);
    EXPECT_EQ(clock.place(MediaKind::video, 5, kVideoRate, at(0), {}).time, 10s);
    const auto audio = clock.place(MediaKind::audio, 777, kAudioRate, at(30), {});
    EXPECT_EQ(audio.time, 10'030ms);
    EXPECT_EQ(audio.timestamp, rtp_timestamp(10'030ms, kAudioRate));
}

TEST(RtpClock, SurvivesTheWrapOfTimestamps) {
    RtpClock clock(0ms);
    std::uint32_t timestamp = 0xFFFF'FFFF - 10'000;
    for (std::int64_t frame = 0; frame < 100; ++frame, timestamp += 3'600)
        EXPECT_EQ(clock.place(MediaKind::video, timestamp, kVideoRate, at(40 * frame), {}).time, frame * 40ms);
}

TEST(RtpClock, IsExactAfterADay) {
    RtpClock clock(0ms);
    std::uint32_t timestamp = 99;
    MediaTime time{};
    for (std::int64_t second = 0; second <= 86'400; ++second, timestamp += kAudioRate)
        time = clock.place(MediaKind::audio, timestamp, kAudioRate, at(0), {}).time;
    EXPECT_EQ(time, std::chrono::hours(24));
}

// Video arrives 120 ms after audio that was captured at the same time.
TEST(RtpClock, MovesVideoGradually) {
    RtpClock clock(0ms);
    MediaTime last = -1ms;
    MediaTime audio{};
    for (std::int64_t i = 0; i < 250; ++i) {
        const MediaTime taken = i * 40ms;
        const auto reported = i < 25 ? std::optional<MediaTime>() : 1'000s + taken;
        audio = clock.place(MediaKind::audio, static_cast<std::uint32_t>(i * 1'920), kAudioRate, at(i * 40), reported).time;
        EXPECT_EQ(audio, taken) << "audio is never moved";
        const auto picture =
            clock.place(MediaKind::video, static_cast<std::uint32_t>(i * 3'600), kVideoRate, at(i * 40 + 120), reported);
        EXPECT_GE(picture.time - last, 36ms);
        if (i < 25) {
            EXPECT_EQ(picture.time, taken + 120ms);
        }
        last = picture.time;
    }
    EXPECT_EQ(last, audio);
    EXPECT_EQ(clock.shift(), -120ms);
}

TEST(RtpClock, DoesNotBelieveReportsFarApart) {
    RtpClock clock(0ms);
    for (std::int64_t i = 0; i < 100; ++i) {
        clock.place(MediaKind::audio, static_cast<std::uint32_t>(i * 1'920), kAudioRate, at(i * 40), i * 40ms);
        clock.place(MediaKind::video, static_cast<std::uint32_t>(i * 3'600), kVideoRate, at(i * 40), i * 40ms + 1h);
    }
    EXPECT_EQ(clock.shift(), 0ms);
}

TEST(RtpClock, PacketsOfOneFrameShareTheirTime) {
    RtpClock clock(0ms);
    for (std::uint32_t i = 0; i < 50; ++i) {
        clock.place(MediaKind::audio, i * 1'920, kAudioRate, at(0), i * 40ms);
        const auto first = clock.place(MediaKind::video, i * 3'600, kVideoRate, at(100), i * 40ms);
        EXPECT_EQ(clock.place(MediaKind::video, i * 3'600, kVideoRate, at(130), i * 40ms).time, first.time);
    }
    EXPECT_EQ(clock.shift(), -100ms);
}

TEST(RtpClock, LayersShareTheTimelineOfTheVideo) {
    RtpClock clock(5s);
    EXPECT_FALSE(clock.place_layer(1'000, 90'000));
    const TimePoint now{1h};
    const auto first = clock.place(MediaKind::video, 1'000, 90'000, now, std::nullopt);
    const auto later = clock.place_layer(1'000 + 9'000, 90'000);
    ASSERT_TRUE(later);
    EXPECT_EQ(later->time, first.time + 100ms);
    EXPECT_EQ(later->timestamp, first.timestamp + 9'000);
    const auto next = clock.place(MediaKind::video, 1'000 + 3'600, 90'000, now, std::nullopt);
    EXPECT_EQ(next.time, first.time + 40ms) << "the layer has not moved the clock";
}

}  // namespace
}  // namespace live::media
