#include "app/memory/memory_trimmer.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "io/fibers/spin_fixture.hpp"

namespace live::app {
namespace {

using std::chrono::seconds;

constexpr std::size_t kLevel = 8 << 20;
constexpr std::size_t kLow = kLevel - TrimClock::kWorthBytes;
const TimePoint kBegin{};

// Calls it once a second, from `first` to `last`; returns the seconds at which it was due.
std::vector<int> due(TrimClock& clock, int first, int last, std::size_t held_bytes) {
    std::vector<int> found;
    for (int second = first; second <= last; ++second)
        if (clock.is_due(kBegin + seconds(second), held_bytes))
            found.push_back(second);
    return found;
}

TEST(TrimClock, IsDueAfterAWaveAndOnceMore) {
    TrimClock clock;
    EXPECT_TRUE(due(clock, 0, 100, kLevel).empty()) << "what is held is not given back";
    EXPECT_EQ(due(clock, 101, 300, kLow), (std::vector{104, 144}));
}

TEST(TrimClock, IsNotDueForSmallWaves) {
    TrimClock clock;
    EXPECT_TRUE(due(clock, 0, 0, kLevel).empty());
    EXPECT_TRUE(due(clock, 1, 100, kLow + 1).empty());
}

TEST(TrimClock, WaitsUntilItIsCalm) {
    TrimClock clock;
    for (int second = 0; second < 60; ++second)
        EXPECT_FALSE(clock.is_due(kBegin + seconds(second), second % 3 == 0 ? kLevel : kLow)) << second;
    EXPECT_EQ(due(clock, 60, 70, kLow), std::vector{61}) << "low since the 58th";
}

TEST(TrimClock, IsNotDueOften) {
    TrimClock clock;
    std::vector<int> found;
    for (int wave = 0; wave < 10; ++wave) {
        due(clock, wave * 10, wave * 10, kLevel);
        const auto more = due(clock, wave * 10 + 1, wave * 10 + 9, kLow);
        found.insert(found.end(), more.begin(), more.end());
    }
    EXPECT_EQ(found, (std::vector{4, 34, 64, 94}));
}

TEST(MemoryTrimmer, ReportsTheCpuTimeOfATrim) {
    const auto before = io::cpu_time();
    const Duration took = give_memory_back();
    EXPECT_GT(took, Duration::zero());
    EXPECT_LE(took, io::cpu_time() - before);
}

// With memory in ample supply, and the same resident memory as before.
bool is_due(OverheadClock& clock, TimePoint now, std::size_t overhead, std::size_t much) {
    return clock.is_due(now, {0, overhead}, much, OverheadClock::Supply::ample);
}

TEST(OverheadClock, IsDueAtOnceForMuch) {
    OverheadClock clock;
    clock.note_done(kBegin, {0, 10}, {0, 10}, {});
    EXPECT_FALSE(is_due(clock, kBegin + seconds(1), 109, 100));
    EXPECT_TRUE(is_due(clock, kBegin + seconds(1), 110, 100));
    EXPECT_FALSE(is_due(clock, kBegin + seconds(1), 5, 100)) << "less than was left";
    EXPECT_TRUE(is_due(clock, kBegin + seconds(1), 105, 100));
}

TEST(OverheadClock, IntervalGrowsWithTheDuration) {
    OverheadClock clock;
    clock.note_done(kBegin, {0, 10}, {0, 10}, OverheadClock::kQuick);
    EXPECT_FALSE(is_due(clock, kBegin + OverheadClock::kEvery - seconds(1), 10, 100));
    EXPECT_TRUE(is_due(clock, kBegin + OverheadClock::kEvery, 10, 100)) << "freed memory is still resident";
    clock.note_done(kBegin, {0, 10}, {0, 10}, 2 * OverheadClock::kQuick);
    EXPECT_FALSE(is_due(clock, kBegin + 2 * OverheadClock::kEvery - seconds(1), 10, 100));
    EXPECT_TRUE(is_due(clock, kBegin + 2 * OverheadClock::kEvery, 10, 100));
    clock.note_done(kBegin, {0, 10}, {0, 10}, OverheadClock::kLongest + std::chrono::microseconds(1));
    EXPECT_FALSE(is_due(clock, kBegin + 10 * OverheadClock::kEvery, 10, 100)) << "it holds the loop";
    EXPECT_TRUE(is_due(clock, kBegin + 10 * OverheadClock::kEvery, 110, 100));
}

TEST(OverheadClock, IsDueOnceMoreAfterCalm) {
    OverheadClock clock;
    constexpr Duration kLong = 2 * OverheadClock::kLongest;
    clock.note_done(kBegin, {0, 10}, {0, 10}, {});
    ASSERT_TRUE(is_due(clock, kBegin + seconds(1), 200, 100));
    clock.note_done(kBegin + seconds(1), {0, 200}, {0, 10}, kLong);
    EXPECT_FALSE(is_due(clock, kBegin + OverheadClock::kEvery, 10, 100));
    EXPECT_TRUE(is_due(clock, kBegin + seconds(1) + OverheadClock::kEvery, 10, 100)) << "whatever the last one took";
    clock.note_done(kBegin + seconds(1) + OverheadClock::kEvery, {0, 10}, {0, 10}, kLong);
    EXPECT_FALSE(is_due(clock, kBegin + 20 * OverheadClock::kEvery, 10, 100)) << "it holds the loop";
}

// Streams free a group of pictures every two seconds, all at once, and take the same memory again.
TEST(OverheadClock, KeepsMemoryThatIsTakenAgain) {
    constexpr std::size_t kMuch = 100;
    OverheadClock clock;
    int trims = 0;
    const auto wave = [&](int second, std::size_t overhead, std::size_t resident) {
        const TimePoint now = kBegin + seconds(second);
        if (!clock.is_due(now, {resident, overhead}, kMuch, OverheadClock::Supply::ample))
            return;
        ++trims;
        clock.note_done(now, {resident, overhead}, {resident - overhead, 0}, {});
    };
    for (int second = 1; second < 200; second += 2) {
        wave(second, 1'000, 2'000);
        wave(second + 1, 10, 2'000);
    }
    EXPECT_EQ(trims, 1);
    const TimePoint end = kBegin + seconds(201);
    EXPECT_TRUE(clock.is_due(end, {2'000, 1'000}, kMuch, OverheadClock::Supply::scarce));
    for (int second = 201; second < 300; ++second)
        wave(second, 1'000, 2'000);
    EXPECT_GE(trims, 2) << "it lasts";
    const int before = trims;
    wave(301, 1'000, 2'000);
    EXPECT_EQ(trims, before + 1) << "and was not taken again";
}

TEST(OverheadClock, ReturnsLessAfterALongTrim) {
    constexpr std::size_t kMuch = 100U << 20;
    constexpr std::size_t kHalf = 16U << 20;
    OverheadClock clock;
    clock.note_done(kBegin, {0, 2 * kHalf}, {0, 0}, 2 * OverheadClock::kGoal);
    EXPECT_FALSE(is_due(clock, kBegin + seconds(1), kHalf - 1, kMuch));
    EXPECT_TRUE(is_due(clock, kBegin + seconds(1), kHalf, kMuch));
    EXPECT_FALSE(is_due(clock, kBegin + OverheadClock::kRests * OverheadClock::kGoal, kHalf, kMuch)) << "not often";
    clock.note_done(kBegin + seconds(1), {0, kHalf}, {0, 0}, OverheadClock::kGoal);
    EXPECT_FALSE(is_due(clock, kBegin + seconds(2), 2 * kHalf - 1, kMuch));
    EXPECT_TRUE(is_due(clock, kBegin + seconds(2), 2 * kHalf, kMuch)) << "twice as much after a quick one";
    clock.note_done(kBegin + seconds(2), {0, 10}, {0, 0}, 2 * OverheadClock::kGoal);
    EXPECT_TRUE(is_due(clock, kBegin + seconds(3), OverheadClock::kMuchMin, kMuch));
    EXPECT_FALSE(is_due(clock, kBegin + seconds(3), OverheadClock::kMuchMin - 1, kMuch));
}

}  // namespace
}  // namespace live::app
