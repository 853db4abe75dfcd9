#include "service/stats/rate_window.hpp"

#include <gtest/gtest.h>

namespace live::service::stats {
namespace {

TimePoint at(std::chrono::milliseconds since) { return TimePoint(1h + since); }

TEST(RateWindow, IsZeroBeforeTwoReadings) {
    RateWindow window;
    EXPECT_EQ(window.per_second().first, 0);
    window.add(at(0s), 1'000'000, 5);
    EXPECT_EQ(window.per_second().first, 0);
    EXPECT_EQ(window.per_second().second, 0);
}

TEST(RateWindow, AveragesOverAvailableReadings) {
    RateWindow window;
    window.add(at(0s), 100, 0);
    window.add(at(2s), 300, 10);
    EXPECT_DOUBLE_EQ(window.per_second().first, 100);
    EXPECT_DOUBLE_EQ(window.per_second().second, 5);
    window.add(at(4s), 300, 10);
    EXPECT_DOUBLE_EQ(window.per_second().first, 50);
}

TEST(RateWindow, DropsOldReadings) {
    RateWindow window;
    window.add(at(0s), 0, 0);
    window.add(at(3s), 3'000'000, 0);  // a burst at the start
    std::uint64_t total = 3'000'000;
    for (std::size_t i = 1; i < RateWindow::kReadings; ++i)
        window.add(at((i + 1) * 3s), total += 300, 0);
    EXPECT_GT(window.per_second().first, 1000);
    window.add(at((RateWindow::kReadings + 1) * 3s), total += 300, 0);
    EXPECT_DOUBLE_EQ(window.per_second().first, 100);
}

TEST(RateWindow, IgnoresDecreasesAndBoundsLeaps) {
    RateWindow window;
    window.add(at(0s), 100, 100);
    window.add(at(1s), 50, 1ULL << 40);
    EXPECT_EQ(window.per_second().first, 0);
    EXPECT_DOUBLE_EQ(window.per_second().second, 4294967295.0);
    window.add(at(2s), 60, 1ULL << 40);
    EXPECT_DOUBLE_EQ(window.per_second().first, 5);
}

TEST(RateWindow, MergesSimultaneousReadings) {
    RateWindow window;
    window.add(at(0s), 0, 0);
    window.add(at(0s), 100, 0);
    window.add(at(1s), 200, 0);
    EXPECT_DOUBLE_EQ(window.per_second().first, 200);
}

TEST(Kbps, RoundsToWholeKilobits) {
    EXPECT_EQ(kbps(0), 0);
    EXPECT_EQ(kbps(125'000), 1000);
    EXPECT_EQ(kbps(62.5), 1);
}

}  // namespace
}  // namespace live::service::stats
