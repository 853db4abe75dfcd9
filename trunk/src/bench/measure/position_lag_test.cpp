#include "bench/measure/position_lag.hpp"

#include <gtest/gtest.h>

namespace live::bench {
namespace {

class PositionLagTest : public testing::Test {
protected:
    // The leader gets 1,000 bytes every 10 ms.
    PositionLagTest() {
        for (unsigned i = 0; i <= 2'000; ++i)
            lag_.note(start_ + i * 10ms, i * 1'000);
    }

    const TimePoint start_ = TimePoint(100s);
    const TimePoint now_ = start_ + 20s;
    PositionLag lag_;
};

TEST_F(PositionLagTest, TheLeaderIsNotLate) { EXPECT_EQ(lag_.behind(now_, 2'000'000), 0ms); }

TEST_F(PositionLagTest, ReportsTheTimeBehindTheLeader) {
    // The leader left position 1,965,000 when it got more, 340 ms ago.
    EXPECT_EQ(lag_.behind(now_, 1'965'000), 340ms);
    EXPECT_EQ(lag_.behind(now_, 1'965'999), 340ms);
    EXPECT_EQ(lag_.behind(now_ + 1s, 1'965'000), 1'340ms);
}

TEST_F(PositionLagTest, LimitsTheLagToItsHistory) { EXPECT_EQ(lag_.behind(now_, 0), 10s); }

TEST(PositionLag, ReportsNoLagBeforeTheFirstBytes) {
    PositionLag lag;
    EXPECT_EQ(lag.behind(TimePoint(1s), 0), 0ms);
    lag.note(TimePoint(1s), 0);
    EXPECT_EQ(lag.behind(TimePoint(2s), 0), 0ms);
}

}  // namespace
}  // namespace live::bench
