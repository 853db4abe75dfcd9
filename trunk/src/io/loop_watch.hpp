// LoopWatch: how late the event loop runs, and which fiber made it late. Fed at every turn and every switch, so it costs a few
// nanoseconds there and allocates nothing but for a fiber that is named.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

#include "base/histogram.hpp"

namespace live::io {

struct Fiber;

class LoopWatch {
public:
    // Seconds.
    static constexpr std::array kLagBounds = {0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0};

    // Fibers that kept the loop to themselves for longer than LoopOptions::long_hold.
    struct Holds {
        std::uint64_t count = 0;
        std::chrono::nanoseconds longest{};
        std::string fiber;  // whose the longest was
        std::string scope;
    };

    // Once for each turn: from one look at descriptors and timers to the next, waiting left out. What became ready meanwhile is
    // at most so late.
    const Histogram<kLagBounds>& lag() const { return lag_; }
    std::uint64_t holds() const { return holds_; }
    // Since the last call.
    Holds take_holds();

    // For the loop: a run begins now.
    void begin(std::chrono::nanoseconds long_hold) {
        long_hold_ = long_hold;
        run_began_ = coarse_clock();
    }
    void end_turn(std::chrono::microseconds lag) { lag_.add(std::chrono::duration<double>(lag).count()); }
    // The fiber that runs now has had some milliseconds: the system's clock has ticked since it began.
    bool has_run_long() const { return coarse_clock() != run_began_; }
    // `fiber`, which has run since the last call, suspends or ends. nullptr: none of ours, or the loop itself, waiting.
    void end_run(const Fiber* fiber) {
        const auto now = coarse_clock();
        if (now - run_began_ > long_hold_) [[unlikely]]
            note(fiber, now - run_began_);
        run_began_ = now;
    }

private:
    // Wrong by the system's tick, which is some milliseconds, and a quarter of the price of the exact one.
    static std::chrono::nanoseconds coarse_clock() {
        timespec at{};
        ::clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
        return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
    }
    void note(const Fiber* fiber, std::chrono::nanoseconds held);

    std::chrono::nanoseconds run_began_{};
    std::chrono::nanoseconds long_hold_{};
    Histogram<kLagBounds> lag_;
    Holds newest_;
    std::uint64_t holds_ = 0;
};

}  // namespace live::io
