#include "io/fibers/scope.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/st/stack_pool.hpp"

namespace live::io {
namespace {

class ScopeTest : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

TEST_F(ScopeTest, AFiberThatReturnsLeavesItsScope) {
    Scope scope("test");
    int ran = 0;
    MUST(scope.start("one", [&](Deadline deadline) {
        EXPECT_TRUE(deadline.is_never());
        ++ran;
    }));
    EXPECT_EQ(scope.size(), 1U);
    EXPECT_EQ(ran, 0);
    MUST(yield(Deadline::never()));
    EXPECT_EQ(ran, 1);
    EXPECT_EQ(scope.size(), 0U);
}

TEST_F(ScopeTest, StopCancelsAndJoins) {
    Scope scope("test");
    int cancelled = 0;
    for (int i = 0; i < 100; ++i)
        MUST(scope.start("sleeper", [&](Deadline) {
            if (sleep(Deadline::never()).code() == Errc::cancelled)
                ++cancelled;
        }));
    MUST(yield(Deadline::never()));
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(cancelled, 100);
    EXPECT_EQ(scope.size(), 0U);
    EXPECT_EQ(scope.start("late", [](Deadline) {}).code(), Errc::cancelled);
}

TEST_F(ScopeTest, AFiberCancelledBeforeItsFirstRunStillRuns) {
    Scope scope("test");
    Errc seen = Errc::system;
    MUST(scope.start("young", [&](Deadline) { seen = sleep(Deadline::never()).code(); }));
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(seen, Errc::cancelled);
}

TEST_F(ScopeTest, ACancelIsReportedByEveryLaterWait) {
    Scope scope("test");
    int reports = 0;
    Signal signal;
    MUST(scope.start("stubborn", [&](Deadline) {
        signal.raise();
        for (int i = 0; i < 5; ++i) {
            if (!sleep(Deadline::after(1h)).ok())
                ++reports;
            if (!yield(Deadline::never()).ok())
                ++reports;
        }
    }));
    MUST(yield(Deadline::never()));
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_EQ(reports, 10);
}

TEST_F(ScopeTest, AFiberThatRetriesForEverDoesNotStopTheLoop) {
    Scope scope("test");
    bool may_end = false;
    MUST(scope.start("retries", [&](Deadline) {
        while (!may_end)
            static_cast<void>(sleep(Deadline::after(1h)).ok());
    }));
    const auto stopped = scope.stop(Deadline::after(5ms));
    EXPECT_EQ(stopped.code(), Errc::timed_out);
    EXPECT_NE(stopped.error().sentence().find("retries"), std::string::npos);
    may_end = true;
    MUST(scope.stop(Deadline::after(kSoon)));
}

TEST_F(ScopeTest, AShieldedCleanUpMayWait) {
    Scope scope("test");
    bool cleaned = false;
    MUST(scope.start("careful", [&](Deadline) {
        EXPECT_EQ(sleep(Deadline::never()).code(), Errc::cancelled);
        {
            const CancelShield shield;
            cleaned = sleep(Deadline::after(2ms)).ok();
        }
        EXPECT_EQ(sleep(Deadline::after(1ms)).code(), Errc::cancelled);
    }));
    MUST(yield(Deadline::never()));
    MUST(scope.stop(Deadline::after(kSoon)));
    EXPECT_TRUE(cleaned);
}

TEST_F(ScopeTest, StopJoinsAlthoughItsOwnFiberIsCancelled) {
    Scope outer("outer");
    Scope inner("inner");
    bool joined = false;
    MUST(outer.start("owner", [&](Deadline) {
        MUST(inner.start("worker", [](Deadline) {
            static_cast<void>(sleep(Deadline::never()).ok());
            const CancelShield shield;
            MUST(sleep(Deadline::after(2ms)));
        }));
        static_cast<void>(sleep(Deadline::never()).ok());
        joined = inner.stop(Deadline::after(kSoon)).ok();
    }));
    MUST(yield(Deadline::never()));
    MUST(yield(Deadline::never()));
    MUST(outer.stop(Deadline::after(kSoon)));
    EXPECT_TRUE(joined);
}

TEST_F(ScopeTest, DestroysCapturesBeforeAFiberEnds) {
    Scope scope("test");
    const auto captured = std::make_shared<int>(1);
    MUST(scope.start("holder", [captured](Deadline) {}));
    EXPECT_EQ(captured.use_count(), 2);
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(captured.use_count(), 1);
}

TEST_F(ScopeTest, AFiberMayStartFibersOfItsOwnScope) {
    Scope scope("test");
    int ran = 0;
    MUST(scope.start("first", [&](Deadline) { MUST(scope.start("second", [&](Deadline) { ++ran; })); }));
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(ran, 1);
}

using ScopeDeathTest = ScopeTest;

TEST_F(ScopeDeathTest, DestroyingAScopeThatStillRunsAFiberAborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            Scope scope("test");
            MUST(scope.start("left behind", [](Deadline) {}));
        },
        "size_ == 0");
}

TEST(ScopeLimits, RefusesFibersAboveItsLimit) {
    const auto loop = MUST(Loop::create({.fibers_max = 3}));
    Scope scope("test");
    for (int i = 0; i < 3; ++i)
        MUST(scope.start("fiber", [](Deadline) {}));
    EXPECT_EQ(scope.start("one more", [](Deadline) {}).code(), Errc::limit);
    MUST(scope.join(Deadline::after(kSoon)));
    MUST(scope.start("again", [](Deadline) {}));
    MUST(scope.join(Deadline::after(kSoon)));
}

// More fibers than the pool keeps stacks for; the excess is returned to the kernel, some each turn.
TEST(ScopeLimits, StacksOfEndedFibersArePooledWithinABound) {
    const auto loop = MUST(Loop::create());
    Scope scope("test");
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 400; ++i)
            MUST(scope.start("short", [](Deadline) { MUST(yield(Deadline::never())); }));
        MUST(scope.join(Deadline::after(kSoon)));
        std::size_t before = loop->counters().stacks_pooled;
        for (int turn = 0; turn < 10; ++turn) {
            MUST(yield(Deadline::never()));
            ASSERT_LE(before - loop->counters().stacks_pooled, st::StackPool::kUnmappedAtOnce);
            before = loop->counters().stacks_pooled;
        }
        EXPECT_LE(loop->counters().stacks_pooled, st::StackPool::kPooledMax);
        EXPECT_GT(loop->counters().stacks_pooled, 0U);
    }
}

TEST_F(ScopeTest, CancelsOneFiberOnly) {
    Scope scope("test");
    std::array<std::uint64_t, 2> ids{};
    std::array<Errc, 2> ends{};
    Signal go_on;
    for (std::size_t i = 0; i < ids.size(); ++i)
        MUST(scope.start("one", [&, i](Deadline forever) {
            ids[i] = fiber_id();
            const auto ended = i == 0 ? sleep(forever) : wait(go_on, forever);
            ends[i] = ended.ok() ? Errc::closed : ended.code();
        }));
    MUST(yield(Deadline::never()));
    EXPECT_NE(ids[0], ids[1]);
    scope.cancel(ids[0]);
    scope.cancel(12'345'678);
    MUST(yield(Deadline::never()));
    EXPECT_EQ(scope.size(), 1U);
    EXPECT_EQ(ends[0], Errc::cancelled);
    go_on.raise();
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(ends[1], Errc::closed);
}

}  // namespace
}  // namespace live::io
