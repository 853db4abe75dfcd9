#include "session/rtc/media_clock.hpp"

#include <gtest/gtest.h>

namespace live::session::rtc {
namespace {

using Line = MediaClock::Line;
constexpr std::uint32_t kAudioRate = 48'000;
constexpr std::uint32_t kVideoRate = 90'000;
const TimePoint kStart{std::chrono::hours(1)};
constexpr std::chrono::microseconds kEpoch = std::chrono::hours(400'000);

TEST(MediaClock, WithoutReportsTimesFollowTheArrivalOfTheFirstPackets) {
    MediaClock clock;
    EXPECT_EQ(clock.time_of(Line::audio, 1'000, kAudioRate, kStart, {}), 0us);
    EXPECT_EQ(clock.time_of(Line::video, 77, kVideoRate, kStart + 30ms, {}), 30ms);
    EXPECT_EQ(clock.time_of(Line::audio, 1'000 + 960, kAudioRate, kStart + 90ms, {}), 20ms);
    EXPECT_EQ(clock.time_of(Line::video, 77 + 9'000, kVideoRate, kStart + 40ms, {}), 130ms);
}

TEST(MediaClock, TimestampsWrapAndComeOutOfOrder) {
    MediaClock clock;
    clock.time_of(Line::video, 0xFFFFFF00, kVideoRate, kStart, {});
    EXPECT_EQ(clock.time_of(Line::video, 0xFFFFFF00 + 90'000, kVideoRate, kStart, {}), 1s);
    EXPECT_EQ(clock.time_of(Line::video, 0xFFFFFF00 + 45'000, kVideoRate, kStart, {}), 500ms);
}

// The picture came 200 ms later than the sound of the same moment: a camera's encoder is slow.
TEST(MediaClock, ReportsPutBothOnThePublishersClock) {
    MediaClock clock;
    clock.time_of(Line::audio, 0, kAudioRate, kStart, {});
    clock.time_of(Line::video, 0, kVideoRate, kStart + 200ms, {});
    EXPECT_EQ(clock.time_of(Line::audio, 48'000, kAudioRate, kStart + 1s, kEpoch + 1s), 1s);
    EXPECT_EQ(clock.time_of(Line::video, 90'000, kVideoRate, kStart + 1'200ms, kEpoch + 1s), 1s);
    EXPECT_EQ(clock.time_of(Line::video, 99'000, kVideoRate, kStart + 1'300ms, {}), 1'100ms);
    EXPECT_EQ(clock.time_of(Line::audio, 52'800, kAudioRate, kStart + 1'100ms, kEpoch + 1'100ms), 1'100ms);
}

TEST(MediaClock, SmallDifferencesAreLeftAlone) {
    MediaClock clock;
    clock.time_of(Line::audio, 0, kAudioRate, kStart, kEpoch);
    EXPECT_EQ(clock.time_of(Line::video, 0, kVideoRate, kStart + 4ms, kEpoch), 4ms);
}

TEST(MediaClock, DaysDoNotOverflow) {
    MediaClock clock;
    clock.time_of(Line::video, 0, kVideoRate, kStart, {});
    MediaTime time{};
    std::uint32_t timestamp = 0;
    for (int hour = 1; hour <= 24 * 30; ++hour)
        time = clock.time_of(Line::video, timestamp += kVideoRate * 3600, kVideoRate, kStart, {});
    EXPECT_EQ(time, std::chrono::hours(24 * 30));
}

}  // namespace
}  // namespace live::session::rtc
