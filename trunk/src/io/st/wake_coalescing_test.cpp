#include "io/st/wake_coalescing.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace live::io::st {
namespace {

constexpr std::uint64_t kTurn = WakeCoalescing::kTurnMicros;

class WakeCoalescingTest : public testing::Test {
protected:
    // Events of `count` descriptors, starting with index `first`, all seen at once.
    void see(std::uint64_t now_us, std::size_t first, std::size_t count) {
        coalescing_.begin(now_us);
        for (std::size_t i = first; i < first + count; ++i)
            coalescing_.note(marks_[i]);
    }

    WakeCoalescing coalescing_;
    std::vector<WakeCoalescing::Mark> marks_{100};
    std::uint64_t start_ = 1'000'000;
};

TEST_F(WakeCoalescingTest, ASingleWakeIsServedAtOnce) {
    for (std::uint64_t turn = 0; turn < 100; ++turn) {
        see(start_ + turn * kTurn, 10 * (turn % 10), WakeCoalescing::kBatchedMin - 1);
        EXPECT_FALSE(coalescing_.holds()) << turn;
    }
}

TEST_F(WakeCoalescingTest, ManyInATurnWaitForItsEnd) {
    see(start_, 0, WakeCoalescing::kBatchedMin - 1);
    EXPECT_FALSE(coalescing_.holds());
    see(start_ + 1'000, 50, 1);
    EXPECT_TRUE(coalescing_.holds());
    EXPECT_EQ(coalescing_.due(), start_ + kTurn);
}

TEST_F(WakeCoalescingTest, ServesTurnsUnderLoad) {
    for (std::uint64_t turn = 0; turn < 1'000; ++turn) {
        see(start_ + turn * kTurn, 10 * (turn % 10), 10);
        EXPECT_TRUE(coalescing_.holds()) << turn;
        EXPECT_EQ(coalescing_.due(), start_ + (turn + 1) * kTurn);
    }
    see(start_ + 1'000 * kTurn, 0, 1);
    EXPECT_FALSE(coalescing_.holds());
}

TEST_F(WakeCoalescingTest, CountsADescriptorOnceATurn) {
    for (std::uint64_t at = 0; at < kTurn; at += 50) {
        see(start_ + at, 0, 1);
        EXPECT_FALSE(coalescing_.holds());
    }
}

TEST_F(WakeCoalescingTest, ADescriptorActiveInEveryTurnIsNotDelayed) {
    std::uint64_t turn = 0;
    for (; turn < WakeCoalescing::kHaste; ++turn) {
        see(start_ + turn * kTurn, 0, 100);
        EXPECT_TRUE(coalescing_.holds()) << turn;
    }
    for (; turn < 1'000; ++turn) {
        see(start_ + turn * kTurn, 0, 100);
        EXPECT_FALSE(coalescing_.holds()) << turn;
    }
}

TEST_F(WakeCoalescingTest, UrgentDescriptorsDoNotHurryOthers) {
    for (std::uint64_t turn = 0; turn < 90; ++turn) {
        coalescing_.begin(start_ + turn * kTurn);
        for (std::size_t hasty = 0; hasty < 5; ++hasty)
            coalescing_.note(marks_[hasty]);
        for (std::size_t other = 0; other < 6; ++other)
            coalescing_.note(marks_[10 + 6 * (turn % 15) + other]);
        EXPECT_TRUE(coalescing_.holds()) << turn;
    }
}

TEST_F(WakeCoalescingTest, SilentTurnsEndUrgency) {
    for (std::uint64_t turn = 0; turn < 100; ++turn) {
        see(start_ + 3 * turn * kTurn, 0, 100);
        EXPECT_TRUE(coalescing_.holds()) << turn;
    }
}

}  // namespace
}  // namespace live::io::st
