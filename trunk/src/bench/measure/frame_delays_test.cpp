#include "bench/measure/frame_delays.hpp"

#include <gtest/gtest.h>

namespace live::bench {
namespace {

using std::chrono::microseconds;

constexpr SystemMicros kFirst{1'714'979'319'000'000};
constexpr SystemMicros kSecond = kFirst + microseconds(40'000);

TEST(FrameDelays, CountsFramesThatEveryClientHas) {
    FrameDelays delays(3);
    delays.add(0, kFirst, microseconds(100));
    delays.add(2, kFirst, microseconds(250));
    EXPECT_TRUE(delays.newest_ms().empty());
    EXPECT_EQ(delays.incomplete(), 1U);
    delays.add(1, kFirst, microseconds(900));
    EXPECT_EQ(delays.newest_ms(), std::vector<double>{0.25});
    EXPECT_EQ(delays.slowest_ms(), std::vector<double>{0.9});
    EXPECT_EQ(delays.incomplete(), 0U);
}

TEST(FrameDelays, OneClientMayBeAFrameBehind) {
    FrameDelays delays(2);
    delays.add(0, kFirst, microseconds(100));
    delays.add(0, kSecond, microseconds(200));
    delays.add(1, kFirst, microseconds(40'100));
    delays.add(1, kSecond, microseconds(300));
    EXPECT_EQ(delays.newest_ms(), (std::vector<double>{40.1, 0.3}));
    EXPECT_EQ(delays.slowest_ms(), (std::vector<double>{40.1, 0.3}));
}

TEST(FrameDelays, IgnoresFramesSentBeforeARestart) {
    FrameDelays delays(1);
    delays.add(0, kFirst, microseconds(100));
    delays.restart(kSecond);
    delays.add(0, kFirst, microseconds(50'000));
    delays.add(0, kSecond, microseconds(200));
    EXPECT_EQ(delays.newest_ms(), std::vector<double>{0.2});
}

}  // namespace
}  // namespace live::bench
