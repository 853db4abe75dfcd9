#include "wire/mp4/track_clock.hpp"

#include <gtest/gtest.h>

namespace live::wire::mp4 {
namespace {

TEST(TrackClock, MillisecondsAreExactFor90Kilohertz) {
    TrackClock clock(90'000, 0);
    EXPECT_EQ(clock.advance(0ms), 0u);
    EXPECT_EQ(clock.advance(33ms), 2'970u);
    EXPECT_EQ(clock.advance(67ms), 6'030u);
    EXPECT_EQ(clock.distance(67ms, 147ms), 7'200);
    EXPECT_EQ(clock.distance(67ms, 27ms), -3'600);
}

TEST(TrackClock, CountsSamplesOfAFixedLength) {
    TrackClock clock(44'100, 1'024);
    std::uint64_t expected = clock.advance(1s);
    EXPECT_EQ(expected, 44'100u);
    for (int i = 1; i < 10'000; ++i) {
        const MediaTime exact = 1s + MediaTime(i * 1'024'000'000LL / 44'100);
        expected += 1'024;
        ASSERT_EQ(clock.advance(std::chrono::floor<std::chrono::milliseconds>(exact)), expected) << i;
    }
}

TEST(TrackClock, FollowsTheStreamWhenTimesDiverge) {
    TrackClock clock(48'000, 1'024);
    clock.advance(0ms);
    const auto limit = MediaTime(1'024'000'000LL / 48'000) + TrackClock::kDriftMax;
    EXPECT_EQ(clock.peek(limit), 1'024u);
    EXPECT_EQ(clock.peek(limit + 1ms), clock.ticks_of(limit + 1ms));
    EXPECT_EQ(clock.advance(5s), 240'000u);
    EXPECT_EQ(clock.advance(4s), 240'001u) << "never back";
}

TEST(TrackClock, AlwaysGrows) {
    TrackClock clock(90'000, 0);
    EXPECT_EQ(clock.advance(-5ms), 0u);
    EXPECT_EQ(clock.peek(0ms), 1u);
    EXPECT_EQ(clock.advance(0ms), 1u);
    EXPECT_EQ(clock.advance(0ms), 2u);
}

TEST(TrackClock, YearsFit) {
    const TrackClock clock(192'000, 0);
    constexpr auto kYears = std::chrono::hours(24 * 365 * 20);
    EXPECT_EQ(clock.ticks_of(kYears + 1ms), std::uint64_t{20 * 365} * 86'400 * 192'000 + 192);
}

}  // namespace
}  // namespace live::wire::mp4
