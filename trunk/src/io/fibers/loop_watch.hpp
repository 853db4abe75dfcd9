// LoopWatch: how late the event loop runs, and which fiber made it late. Updated at every turn and every switch, where it costs a
// few nanoseconds, and allocates only to name a fiber.
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

    // Fibers that held the loop for longer than LoopOptions::long_hold.
    struct Holds {
        std::uint64_t count = 0;
        std::chrono::nanoseconds longest{};
        std::string fiber;  // the fiber of the longest one
        std::string scope;
    };

    // One value per turn: the time from one poll of descriptors and timers to the next, without waiting. Events that arrived in
    // between are at most this late.
    const Histogram<kLagBounds>& lag() const { return lag_; }
    std::uint64_t holds() const { return holds_; }
    // Since the last call.
    Holds take_holds();

    // For the loop: a run begins now. Limits below 20 ms are compared with the CPU time of each run, which costs a system call
    // per switch; longer ones with the system's clock.
    void begin(std::chrono::nanoseconds long_hold) {
        long_hold_ = long_hold;
        run_began_ = coarse_clock();
        is_exact_ = long_hold < kExactBelow;
        cpu_at_begin_ = cpu_clock();
    }
    void end_turn(std::chrono::microseconds lag) { lag_.add(std::chrono::duration<double>(lag).count()); }
    // Reports whether the current fiber has run for some milliseconds: two since its first call, or the coarse system clock has
    // ticked since the run began.
    bool has_run_long();
    // `fiber`, which has run since the last call, suspends or ends. nullptr: not one of our fibers, or the loop itself, waiting.
    void end_run(const Fiber* fiber) {
        asked_at_ = {};
        if (is_exact_) [[unlikely]]
            return end_exact_run(fiber);
        const auto now = coarse_clock();
        if (now - run_began_ > long_hold_) [[unlikely]]
            note(fiber, now - run_began_);
        run_began_ = now;
    }

private:
    static constexpr std::chrono::milliseconds kExactBelow{20};
    static constexpr std::chrono::milliseconds kLongRun{2};

    // Accurate to the system's tick, which is some milliseconds, at a quarter of the cost of the exact clock.
    static std::chrono::nanoseconds coarse_clock() {
        timespec at{};
        ::clock_gettime(CLOCK_MONOTONIC_COARSE, &at);
        return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
    }
    // Returns the CPU time of this thread.
    static std::chrono::nanoseconds cpu_clock();
    void end_exact_run(const Fiber* fiber);
    void note(const Fiber* fiber, std::chrono::nanoseconds held);

    std::chrono::steady_clock::time_point asked_at_;  // first call of has_run_long() in this run; zero: none yet
    bool is_exact_ = false;
    std::chrono::nanoseconds cpu_at_begin_{};
    std::chrono::nanoseconds run_began_{};
    std::chrono::nanoseconds long_hold_{};
    Histogram<kLagBounds> lag_;
    Holds newest_;
    std::uint64_t holds_ = 0;
};

}  // namespace live::io
