#include "service/dvr/start_clock.hpp"

#include <gtest/gtest.h>

namespace live::service::dvr {
namespace {

constexpr WallTime kNoon{std::chrono::seconds(1'764'417'600)};

TEST(StartClock, JitterMakesNoGap) {
    StartClock clock;
    EXPECT_EQ(clock.start_of(5s, kNoon), kNoon);
    EXPECT_EQ(clock.start_of(15s, kNoon + 10s + 400ms), kNoon + 10s);
    EXPECT_EQ(clock.start_of(25s, kNoon + 20s - StartClock::kSlewMin), kNoon + 20s);
}

TEST(StartClock, DriftIsFollowedSlowly) {
    StartClock clock;
    clock.start_of(0s, kNoon);
    EXPECT_EQ(clock.start_of(1h, kNoon + 1h + 1'001ms), kNoon + 1h + StartClock::kSlewMax);
    EXPECT_EQ(clock.start_of(2h, kNoon + 2h - 2s), kNoon + 2h);
}

TEST(StartClock, ClockThatWasSetIsFollowed) {
    StartClock clock;
    clock.start_of(0s, kNoon);
    EXPECT_EQ(clock.start_of(10s, kNoon - 1h), kNoon - 1h);
    EXPECT_EQ(clock.start_of(20s, kNoon - 1h + 10s), kNoon - 1h + 10s);
    EXPECT_EQ(clock.start_of(30s, kNoon), kNoon);
}

TEST(StartClock, JumpAtTheBoundIsDrift) {
    StartClock clock;
    clock.start_of(0s, kNoon);
    EXPECT_EQ(clock.start_of(10s, kNoon + 10s + StartClock::kJumpMin), kNoon + 10s + StartClock::kSlewMax);
    StartClock other;
    other.start_of(0s, kNoon);
    const WallTime set = kNoon + 10s + StartClock::kJumpMin + 1us;
    EXPECT_EQ(other.start_of(10s, set), set);
}

}  // namespace
}  // namespace live::service::dvr
