#include "wire/ts/clock.hpp"

#include <gtest/gtest.h>

namespace live::wire::ts {
namespace {

TEST(TsClock, CountsNinetyTicksAMillisecond) {
    EXPECT_EQ(ticks_of(0us), 0u);
    EXPECT_EQ(ticks_of(1ms), 90u);
    EXPECT_EQ(ticks_of(1h), 324'000'000u);
    EXPECT_EQ(ticks_of(11us), 0u);
    EXPECT_EQ(ticks_of(12us), 1u);
}

TEST(TsClock, WrapsAtThirtyThreeBitsBothWays) {
    EXPECT_EQ(ticks_of(-1ms), kTicksMask - 89);
    EXPECT_EQ(ticks_of(-1us), kTicksMask);
    const MediaTime period(kTicksMask / 9 * 100 + 100);  // Just over 2^33 ticks.
    EXPECT_LT(ticks_of(period), 100u);
    EXPECT_GT(ticks_of(period - 1ms), kTicksMask - 100);
}

TEST(TsClock, TheReferenceCountsTwentySevenTicksAMicrosecond) {
    EXPECT_EQ(clock_reference_of(0us), (ClockReference{0, 0}));
    EXPECT_EQ(clock_reference_of(1us), (ClockReference{0, 27}));
    EXPECT_EQ(clock_reference_of(12us), (ClockReference{1, 24}));
    EXPECT_EQ(clock_reference_of(-1us), (ClockReference{kTicksMask, 273}));
}

}  // namespace
}  // namespace live::wire::ts
