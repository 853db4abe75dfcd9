#include "service/cluster/rate_meter.hpp"

#include <gtest/gtest.h>

namespace live::service::cluster {
namespace {

using std::chrono::milliseconds;

TEST(RateMeter, FollowsTheRate) {
    RateMeter meter;
    TimePoint now{std::chrono::hours(1)};
    std::uint64_t total = 5'000'000;  // before the first reading: no rate
    meter.note(total, now);
    EXPECT_EQ(meter.per_second(), 0U);
    for (int i = 0; i < 5; ++i)
        meter.note(total += 1'000, now += milliseconds(1'000));
    EXPECT_NEAR(static_cast<double>(meter.per_second()), 1'000, 10);
    for (int i = 0; i < 20; ++i)
        meter.note(total, now += milliseconds(1'000));
    EXPECT_LT(meter.per_second(), 2U);
}

TEST(RateMeter, IgnoresCloseReadingsAndFallingTotals) {
    RateMeter meter;
    TimePoint now{std::chrono::hours(1)};
    meter.note(0, now);
    meter.note(1'000'000'000, now + milliseconds(1));
    EXPECT_EQ(meter.per_second(), 0U);
    meter.note(10, now);
    meter.note(0, now += milliseconds(1'000));
    EXPECT_EQ(meter.per_second(), 0U);
}

}  // namespace
}  // namespace live::service::cluster
