#include "session/fan_out/timer_wheel.hpp"

#include <functional>
#include <memory>

#include <gtest/gtest.h>

namespace live::session {
namespace {

const TimePoint kWheelStart{std::chrono::hours(1)};

struct Probe final : TimerWheel::Timer {
    void on_due(TimePoint now) override {
        ++calls;
        called_at = now;
        if (then)
            then();
    }
    int calls = 0;
    TimePoint called_at{};
    std::function<void()> then;
};

void run_until(TimerWheel& wheel, TimePoint& now, TimePoint end) {
    while (now < end) {
        now += 3ms;
        wheel.advance(now);
    }
}

TEST(TimerWheel, CallsOnceWithinATickAndNeverEarly) {
    for (const auto after : {0ms, 1ms, 9ms, 10ms, 11ms, 250ms, 2'540ms, 2'560ms, 2'570ms, 10'000ms, 61'234ms}) {
        TimerWheel wheel(kWheelStart);
        Probe probe;
        wheel.set(probe, kWheelStart + after);
        TimePoint now = kWheelStart;
        run_until(wheel, now, kWheelStart + 70s);
        EXPECT_EQ(probe.calls, 1) << after.count();
        EXPECT_GE(probe.called_at, kWheelStart + after) << after.count();
        EXPECT_LE(probe.called_at, kWheelStart + after + 2 * TimerWheel::kTick + 3ms) << after.count();
        EXPECT_EQ(wheel.size(), 0U);
    }
}

TEST(TimerWheel, ATimeThatIsSetAgainReplacesTheOne) {
    TimerWheel wheel(kWheelStart);
    Probe probe;
    wheel.set(probe, kWheelStart + 100ms);
    wheel.set(probe, kWheelStart + 500ms);
    wheel.set(probe, kWheelStart + 500ms);
    EXPECT_EQ(wheel.size(), 1U);
    TimePoint now = kWheelStart;
    run_until(wheel, now, kWheelStart + 400ms);
    EXPECT_EQ(probe.calls, 0);
    wheel.set(probe, kWheelStart + 450ms);
    run_until(wheel, now, kWheelStart + 1s);
    EXPECT_EQ(probe.calls, 1);
}

TEST(TimerWheel, DoesNotCallCancelledOrDestroyedEntries) {
    TimerWheel wheel(kWheelStart);
    Probe cancelled;
    auto destroyed = std::make_unique<Probe>();
    Probe last;
    for (Probe* probe : {&cancelled, destroyed.get(), &last})
        wheel.set(*probe, kWheelStart + 50ms);
    wheel.cancel(cancelled);
    wheel.cancel(cancelled);
    destroyed.reset();
    TimePoint now = kWheelStart;
    run_until(wheel, now, kWheelStart + 1s);
    EXPECT_EQ(cancelled.calls, 0);
    EXPECT_EQ(last.calls, 1);
}

TEST(TimerWheel, ACallMaySetCancelAndDestroyOthersOfItsTick) {
    TimerWheel wheel(kWheelStart);
    Probe first;
    Probe cancelled;
    auto destroyed = std::make_unique<Probe>();
    Probe again;
    for (Probe* probe : {&first, &cancelled, destroyed.get(), &again})
        wheel.set(*probe, kWheelStart + 20ms);
    first.then = [&] {
        wheel.cancel(cancelled);
        destroyed.reset();
    };
    again.then = [&] {
        if (again.calls < 3)
            wheel.set(again, again.called_at + 1ms);
    };
    TimePoint now = kWheelStart;
    run_until(wheel, now, kWheelStart + 1s);
    EXPECT_EQ(first.calls, 1);
    EXPECT_EQ(cancelled.calls, 0);
    EXPECT_EQ(again.calls, 3);
    EXPECT_EQ(wheel.size(), 0U);
}

TEST(TimerWheel, ReturnsItsNextTimeout) {
    TimerWheel wheel(kWheelStart, 1ms);
    EXPECT_FALSE(wheel.next());
    Probe soon;
    Probe later;
    wheel.set(later, kWheelStart + 10s);
    EXPECT_EQ(wheel.next(), kWheelStart + 255ms) << "as far as its slots reach";
    wheel.set(soon, kWheelStart + 4'200us);
    EXPECT_EQ(wheel.next(), kWheelStart + 5ms);
    wheel.advance(kWheelStart + 4ms);
    EXPECT_EQ(soon.calls, 0);
    EXPECT_EQ(wheel.next(), kWheelStart + 5ms);
    TimePoint now = kWheelStart;
    while (const auto next = wheel.next()) {
        EXPECT_GT(*next, now);
        now = *next;
        wheel.advance(now);
    }
    EXPECT_EQ(soon.called_at, kWheelStart + 5ms);
    EXPECT_EQ(later.calls, 1);
    EXPECT_GE(later.called_at, kWheelStart + 10s);
    EXPECT_LE(later.called_at, kWheelStart + 10s + 2ms);
}

TEST(TimerWheel, CallsEachTimerOnceAfterABlockedLoop) {
    TimerWheel wheel(kWheelStart);
    Probe soon;
    Probe later;
    wheel.set(soon, kWheelStart + 20ms);
    wheel.set(later, kWheelStart + 60s);
    wheel.advance(kWheelStart + 30s);
    EXPECT_EQ(soon.calls, 1);
    EXPECT_EQ(later.calls, 0);
    wheel.advance(kWheelStart + 120s);
    EXPECT_EQ(later.calls, 1);
}

}  // namespace
}  // namespace live::session
