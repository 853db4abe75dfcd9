#include "io/fibers/loop.hpp"

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/fibers/scope.hpp"
#include "io/fibers/spin_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"

namespace live::io {
namespace {

class LoopTest : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

TEST_F(LoopTest, ASecondLoopIsAConflict) { EXPECT_EQ(Loop::create().error().code(), Errc::conflict); }

TEST_F(LoopTest, LoopMayBeCreatedTwiceInSequence) {
    loop_.reset();
    loop_ = MUST(Loop::create());
    EXPECT_TRUE(sleep(Deadline::after(1ms)).ok());
}

TEST_F(LoopTest, ALoopBeginsAtTheTimeThatItIs) {
    loop_.reset();
    // In whole microseconds.
    const auto before = std::chrono::floor<std::chrono::microseconds>(std::chrono::steady_clock::now());
    std::this_thread::sleep_for(1ms);
    loop_ = MUST(Loop::create());
    EXPECT_GE(now(), before + 1ms);
}

TEST_F(LoopTest, SleepLastsUntilItsDeadlineAndNotMuchShorter) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_TRUE(sleep(Deadline::after(3ms)).ok());
    EXPECT_GE(std::chrono::steady_clock::now() - before, 3ms);
    EXPECT_TRUE(sleep(Deadline::at(before)).ok());
}

TEST_F(LoopTest, SleepersWakeInTheOrderOfTheirDeadlines) {
    Scope scope("test");
    std::vector<int> order;
    const auto start = std::chrono::steady_clock::now();
    for (const int millis : {9, 1, 5, 3, 7, 2, 8, 4, 6})
        MUST(scope.start("sleeper", [&order, millis, start](Deadline) {
            EXPECT_TRUE(sleep(Deadline::at(start + std::chrono::milliseconds(millis))).ok());
            order.push_back(millis);
        }));
    EXPECT_TRUE(scope.join(Deadline::after(kSoon)).ok());
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_F(LoopTest, ASignalRaisedBeforeTheWaitIsNotLost) {
    Signal signal;
    signal.raise();
    EXPECT_TRUE(wait(signal, Deadline::never()).ok());
    EXPECT_FALSE(signal.is_raised());
    EXPECT_EQ(wait(signal, Deadline::after(1ms)).error().code(), Errc::timed_out);
    EXPECT_FALSE(signal.has_waiter());
}

TEST_F(LoopTest, ASignalWakesItsWaiter) {
    Scope scope("test");
    Signal ping;
    Signal pong;
    int rounds = 0;
    MUST(scope.start("pong", [&](Deadline) {
        for (; rounds < 1000; ++rounds) {
            MUST(wait(ping, Deadline::after(kSoon)));
            pong.raise();
        }
    }));
    for (int i = 0; i < 1000; ++i) {
        ping.raise();
        MUST(wait(pong, Deadline::after(kSoon)));
    }
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(rounds, 1000);
}

// The raise comes in the same turn in which the deadline has already made the sleeper runnable.
TEST_F(LoopTest, ARaiseTogetherWithTheDeadlineIsReportedAsTheRaise) {
    Scope scope("test");
    Signal signal;
    const auto due = Deadline::after(2ms);
    bool got = false;
    MUST(scope.start("raiser", [&](Deadline) {
        MUST(sleep(Deadline::at(due.when() - 1us)));
        while (!due.expired()) {
        }
        signal.raise();
    }));
    MUST(scope.start("waiter", [&](Deadline) { got = wait(signal, due).ok(); }));
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_TRUE(got);
}

TEST_F(LoopTest, FibersThatKeepEachOtherRunnableDoNotStarveTimers) {
    Scope scope("test");
    bool done = false;
    for (int i = 0; i < 2; ++i)
        MUST(scope.start("busy", [&](Deadline) {
            Signal always;
            while (!done) {
                always.raise();
                MUST(wait(always, Deadline::never()));
            }
        }));
    MUST(sleep(Deadline::after(2ms)));
    done = true;
    MUST(scope.join(Deadline::after(kSoon)));
}

// As many as leave when an event ends.
TEST_F(LoopTest, ManyRunnableFibersDoNotDelayTimersAndUrgentFibers) {
    constexpr int kFibers = 200;
    constexpr auto kWork = 200us;
    Signal signals[kFibers];
    Scope scope("test");
    int done = 0;
    for (Signal& signal : signals)
        MUST(scope.start("many", [&](Deadline) {
            MUST(wait(signal, Deadline::after(kSoon)));
            spin(kWork);
            ++done;
        }));
    std::vector<int> done_at;
    MUST(scope.start("urgent", [&](Deadline) {
        const Urgent urgent;
        for (int i = 0; i < 3; ++i) {
            MUST(sleep(Deadline::after(1ms)));
            done_at.push_back(done);
        }
    }));
    MUST(yield(Deadline::never()));
    for (Signal& signal : signals)
        signal.raise();
    MUST(scope.join(Deadline::after(kSoon)));
    ASSERT_EQ(done_at.size(), 3U);
    EXPECT_LT(done_at.back(), kFibers) << "it ran while others waited for their turn";
}

TEST_F(LoopTest, UrgentFibersRunFirstInTheirOrderAndOthersInBetween) {
    Scope scope("test");
    std::string order;
    Signal go[4];
    const auto start = [&](char name, Signal& signal, bool is_urgent) {
        MUST(scope.start("test", [&order, name, &signal, is_urgent](Deadline) {
            std::optional<Urgent> urgent;
            if (is_urgent)
                urgent.emplace();
            MUST(wait(signal, Deadline::after(kSoon)));
            order += name;
        }));
    };
    start('a', go[0], false);
    start('b', go[1], true);
    start('c', go[2], false);
    start('d', go[3], true);
    MUST(yield(Deadline::never()));
    for (Signal& signal : go)
        signal.raise();
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(order, "bdac");

    // Two urgent fibers that keep each other runnable do not starve another one.
    Scope pair("pair");
    Signal ping;
    Signal pong;
    bool stop = false;
    const auto play = [&stop](Signal& mine, Signal& other) {
        const Urgent urgent;
        while (!stop) {
            other.raise();
            MUST(wait(mine, Deadline::after(kSoon)));
        }
        other.raise();
    };
    MUST(pair.start("ping", [&](Deadline) { play(ping, pong); }));
    MUST(pair.start("pong", [&](Deadline) { play(pong, ping); }));
    MUST(sleep(Deadline::after(1ms)));
    stop = true;
    MUST(pair.join(Deadline::after(kSoon)));
}

TEST_F(LoopTest, YieldLetsTimersFire) {
    Scope scope("test");
    bool fired = false;
    MUST(scope.start("timer", [&](Deadline) {
        MUST(sleep(Deadline::after(1ms)));
        fired = true;
    }));
    const auto limit = Deadline::after(kSoon);
    while (!fired && !limit.expired())
        MUST(yield(Deadline::never()));
    EXPECT_TRUE(fired);
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(LoopTest, NowStandsStillWithinATurnAndMovesBetweenTurns) {
    const auto first = now();
    while (Deadline::at(first + 200us).when() > std::chrono::steady_clock::now()) {
    }
    EXPECT_EQ(now(), first);
    MUST(sleep(Deadline::after(1ms)));
    EXPECT_GT(now(), first);
}

TEST_F(LoopTest, FibersAreListedWithTheirNamesAndStates) {
    Scope scope("players");
    Signal signal;
    MUST(scope.start("waits", [&](Deadline) { EXPECT_EQ(wait(signal, Deadline::never()).error().code(), Errc::cancelled); }));
    MUST(scope.start("sleeps", [](Deadline) { EXPECT_EQ(sleep(Deadline::after(1min)).error().code(), Errc::cancelled); }));
    MUST(yield(Deadline::never()));
    const auto listener = MUST(TcpListener::listen({"127.0.0.1", 0}));
    MUST(scope.start("accepts", [&](Deadline) { EXPECT_FALSE(listener->accept(Deadline::after(1min)).ok()); }));
    // A fiber that has run for some milliseconds, as under valgrind, yields before it waits.
    MUST(sleep(Deadline::after(20ms)));
    std::vector<std::string> seen;
    for (const FiberInfo& fiber : list_fibers(0, 100)) {
        EXPECT_GE(fiber.age, 0ns);
        EXPECT_EQ(fiber.due_in.has_value(), fiber.state == FiberState::sleeping);
        seen.push_back(fiber.scope + "/" + fiber.name + "=" + std::to_string(static_cast<int>(fiber.state)) + " " +
                       fiber.waits_for);
    }
    const std::string accepts = "descriptor " + std::to_string(listener->native_handle()) + " to read";
    EXPECT_EQ(seen, (std::vector<std::string>{"/main=0 ", "players/accepts=3 " + accepts, "players/sleeps=3 time",
                                              "players/waits=2 a signal"}));
    MUST(scope.stop(Deadline::after(kSoon)));
}

TEST_F(LoopTest, FibersAreListedPageByPage) {
    Scope scope("many");
    for (int i = 0; i < 5; ++i)
        MUST(scope.start("f" + std::to_string(i), [](Deadline forever) { static_cast<void>(sleep(forever)); }));
    const auto names = [](std::size_t start, std::size_t count) {
        std::string all;
        for (const FiberInfo& fiber : list_fibers(start, count))
            all += fiber.name + " ";
        return all;
    };
    EXPECT_EQ(names(0, 2), "main f4 ");
    EXPECT_EQ(names(2, 3), "f3 f2 f1 ");
    EXPECT_EQ(names(5, 100), "f0 ");
    EXPECT_EQ(names(6, 100), "");
    EXPECT_EQ(names(0, 0), "");
    MUST(scope.stop(Deadline::after(kSoon)));
}

[[gnu::noinline]] void go_deep(std::size_t bytes) {
    volatile char* deep = static_cast<volatile char*>(__builtin_alloca(bytes));
    for (std::size_t i = 0; i < bytes; i += 512)
        deep[i] = 'd';
}

TEST_F(LoopTest, AStacksDepthIsListedAndForgottenByATrim) {
    Scope scope("test");
    Signal trim;
    MUST(scope.start("flat", [](Deadline forever) { static_cast<void>(sleep(forever)); }));
    MUST(scope.start("deep", [&](Deadline forever) {
        go_deep(40'000);
        MUST(wait(trim, Deadline::after(kSoon)));
        trim_stack();
        static_cast<void>(sleep(forever));
    }));
    MUST(yield(Deadline::never()));
    const auto depth = [](std::size_t place) { return list_fibers(place, 1).front().stack_touched_bytes; };
    EXPECT_EQ(depth(0), 0U) << "the process stack";
    EXPECT_GE(depth(1), 40'000U);
    EXPECT_GT(depth(2), 0U);
    trim.raise();
    MUST(yield(Deadline::never()));
    const bool is_trimmed = Loop::counters().stack_bytes == LoopOptions{}.stack_bytes;  // not under AddressSanitizer
    EXPECT_TRUE(!is_trimmed || depth(1) <= 32'768U) << depth(1);
    MUST(scope.stop(Deadline::after(kSoon)));
}

TEST_F(LoopTest, ReleasesMemoryOfUnusedStacks) {
    const auto depth_after_a_deep_fiber = [](bool is_released) {
        Scope scope("test");
        MUST(scope.start("deep", [](Deadline) { go_deep(40'000); }));
        MUST(scope.join(Deadline::after(kSoon)));
        if (is_released)
            Loop::release_stacks();
        MUST(scope.start("flat", [](Deadline forever) { static_cast<void>(sleep(forever)); }));
        MUST(yield(Deadline::never()));
        const std::size_t depth = list_fibers(1, 1).front().stack_touched_bytes;
        MUST(scope.stop(Deadline::after(kSoon)));
        return depth;
    };
    EXPECT_GE(depth_after_a_deep_fiber(false), 40'000U);
    const bool is_mapped = Loop::counters().stack_bytes == LoopOptions{}.stack_bytes;  // not under AddressSanitizer
    EXPECT_TRUE(!is_mapped || depth_after_a_deep_fiber(true) <= 32'768U);
}

TEST_F(LoopTest, FiberHasAName) {
    Scope scope("test");
    std::string seen;
    MUST(scope.start("publisher 7", [&](Deadline) { seen = fiber_name(); }));
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(seen, "publisher 7");
    EXPECT_EQ(fiber_name(), "main");
}

TEST_F(LoopTest, AStackThatWasTrimmedStillHoldsItsLiveFrames) {
    Scope scope("test");
    MUST(scope.start("deep", [](Deadline) {
        char kept[512];
        for (char& byte : kept)
            byte = 'k';
        {
            volatile char deep[6000];
            for (volatile char& byte : deep)
                byte = 'd';
        }
        trim_stack();
        for (const char byte : kept)
            EXPECT_EQ(byte, 'k');
        MUST(sleep(Deadline::after(1ms)));
    }));
    MUST(scope.join(Deadline::after(kSoon)));
    trim_stack();  // No effect on the primordial stack.
}

TEST_F(LoopTest, CountsTheLagOfEachTurnWithoutWaiting) {
    const auto& lag = Loop::watch().lag();
    MUST(yield(Deadline::never()));
    const auto count = lag.count();
    const double sum = lag.sum();
    spin(3ms);
    MUST(yield(Deadline::never()));
    EXPECT_EQ(lag.count() - count, 1U);
    EXPECT_GE(lag.sum() - sum, 0.003);
    // A single try may fail on a busy machine.
    bool was_none = false;
    for (int i = 0; i < 20 && !was_none; ++i) {
        const double before = lag.sum();
        MUST(sleep(Deadline::after(10ms)));
        was_none = lag.sum() - before < 0.005;
    }
    EXPECT_TRUE(was_none);
}

TEST(LoopHolds, LogsTheFiberThatHoldsTheLoop) {
    const auto loop = MUST(Loop::create({.long_hold = 30ms}));
    LoopWatch& watch = Loop::watch();
    // One by one: by the system's clock, which counts here, a busy machine makes either of them the longer one.
    for (const bool suspends : {true, false}) {
        const std::string name = suspends ? "suspends after it" : "ends with it";
        static_cast<void>(watch.take_holds());
        const auto total = watch.holds();
        Scope scope("greedy");
        MUST(scope.start(name, [&](Deadline) {
            spin(60ms);
            if (suspends)
                MUST(yield(Deadline::never()));
        }));
        MUST(scope.join(Deadline::after(kSoon)));
        const LoopWatch::Holds holds = watch.take_holds();
        EXPECT_GE(holds.count, 1U);
        EXPECT_EQ(holds.fiber, name);
        EXPECT_EQ(holds.scope, "greedy");
        EXPECT_GE(holds.longest, 40ms);
        EXPECT_EQ(watch.holds() - total, holds.count);
        EXPECT_EQ(watch.take_holds().count, 0U);
    }
}

TEST(LoopHolds, AShortLimitCountsTheTimeOfTheCpu) {
    const auto loop = MUST(Loop::create({.long_hold = 3ms}));
    LoopWatch& watch = Loop::watch();
    Scope scope("short");
    MUST(yield(Deadline::never()));
    static_cast<void>(watch.take_holds());
    MUST(scope.start("sleeps in the kernel", [](Deadline) { ::usleep(30'000); }));
    MUST(scope.start("computes", [](Deadline) { spin(30ms); }));
    MUST(scope.start("computes less", [](Deadline) { spin(10ms); }));
    MUST(scope.start("is modest", [](Deadline) { spin(1ms); }));
    MUST(scope.join(Deadline::after(kSoon)));
    const LoopWatch::Holds holds = watch.take_holds();
    EXPECT_GE(holds.count, 2U);
    EXPECT_EQ(holds.fiber, "computes") << "the longest";
    EXPECT_GE(holds.longest, 30ms);
}

using LoopDeathTest = LoopTest;

TEST_F(LoopDeathTest, SuspendingUnderNoSuspendAborts) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const NoSuspend guard;
            static_cast<void>(sleep(Deadline::after(1ms)));
        },
        "no_suspend");
}

}  // namespace
}  // namespace live::io
