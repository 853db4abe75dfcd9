#include "base/log/log_throttle.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr char kSlow = 0;
constexpr char kBroken = 0;

std::size_t admitted(LogThrottle& throttle, TimePoint now, LogPlace place, std::string_view client, std::size_t tries) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tries; ++i)
        count += throttle.admits(now, LogLimit::of_all, place, client) ? 1 : 0;
    return count;
}

TEST(LogThrottle, AClientHasABurstAndThenALineEachInterval) {
    LogThrottle throttle;
    EXPECT_EQ(admitted(throttle, kStart, &kSlow, "a", 1000), LogThrottle::kOfClient.burst);
    EXPECT_EQ(throttle.left_out(), 990U);
    EXPECT_EQ(admitted(throttle, kStart + 9999ms, &kSlow, "a", 1000), 0U);
    EXPECT_EQ(admitted(throttle, kStart + 10s, &kSlow, "a", 1000), 1U);
    EXPECT_EQ(admitted(throttle, kStart + 1h, &kSlow, "a", 1000), LogThrottle::kOfClient.burst);
}

TEST(LogThrottle, EachClientAndKindHasASeparateShare) {
    LogThrottle throttle;
    EXPECT_EQ(admitted(throttle, kStart, &kSlow, "a", 1000), LogThrottle::kOfClient.burst);
    EXPECT_EQ(admitted(throttle, kStart, &kSlow, "b", 1000), LogThrottle::kOfClient.burst);
    EXPECT_EQ(admitted(throttle, kStart, &kBroken, "a", 1000), LogThrottle::kOfClient.burst);
}

TEST(LogThrottle, LimitsAKindOverAllClients) {
    LogThrottle throttle;
    std::size_t count = 0;
    for (int client = 0; client < 100'000; ++client)
        count += throttle.admits(kStart, LogLimit::of_all, &kSlow, std::to_string(client)) ? 1 : 0;
    EXPECT_EQ(count, LogThrottle::kOfKind.burst);
    for (int client = 0; client < 100'000; ++client)
        count += throttle.admits(kStart + client * 100us, LogLimit::of_all, &kSlow, std::to_string(client)) ? 1 : 0;
    EXPECT_EQ(count, LogThrottle::kOfKind.burst + 99) << "ten a second for ten seconds";
}

TEST(LogThrottle, LinesOfEveryClientMayBeBoundedForEachClientAlone) {
    LogThrottle throttle;
    std::size_t count = 0;
    for (int line = 0; line < 20; ++line)
        for (int client = 0; client < 100; ++client)
            count += throttle.admits(kStart, LogLimit::of_client, &kSlow, std::to_string(client)) ? 1 : 0;
    EXPECT_GT(count, LogThrottle::kOfKind.burst) << "these do not share";
    EXPECT_EQ(throttle.left_out(), 2000 - count);
    EXPECT_GT(throttle.left_out(), 0U);
}

TEST(LogThrottle, NextLineOfAKindReportsDroppedLines) {
    LogThrottle throttle;
    admitted(throttle, kStart, &kSlow, "a", 15);
    EXPECT_EQ(throttle.on_written(&kBroken, "broken"), 0U);
    EXPECT_EQ(throttle.on_written(&kSlow, "slow"), 5U);
    EXPECT_EQ(throttle.on_written(&kSlow, "slow"), 0U);
    EXPECT_FALSE(throttle.take_left_out(kStart + 1h));
}

TEST(LogThrottle, ReportsDroppedLinesAfterAWhileWithoutNextLine) {
    LogThrottle throttle;
    admitted(throttle, kStart - 1h, &kSlow, "b", 1);
    throttle.on_written(&kSlow, "slow " + std::string(LogThrottle::kSampleBytes, 'x'));
    admitted(throttle, kStart, &kSlow, "a", 15);
    EXPECT_FALSE(throttle.take_left_out(kStart + LogThrottle::kSayAfter - 1ms));
    const auto left_out = throttle.take_left_out(kStart + LogThrottle::kSayAfter);
    ASSERT_TRUE(left_out);
    EXPECT_EQ(left_out->lines, 5U);
    EXPECT_TRUE(left_out->sample.starts_with("slow xxx"));
    EXPECT_EQ(left_out->sample.size(), LogThrottle::kSampleBytes);
    EXPECT_FALSE(throttle.take_left_out(kStart + 1h)) << "it has been said";
    EXPECT_EQ(throttle.left_out(), 5U);
}

}  // namespace
}  // namespace live
