#include "io/fibers/loop_watch.hpp"

#include <utility>

#include "io/fibers/fiber.hpp"

namespace live::io {

LoopWatch::Holds LoopWatch::take_holds() { return std::exchange(newest_, {}); }

bool LoopWatch::has_run_long() {
    if (coarse_clock() != run_began_)
        return true;
    const auto now = std::chrono::steady_clock::now();
    if (asked_at_ == std::chrono::steady_clock::time_point{})
        asked_at_ = now;
    return now - asked_at_ > kLongRun;
}

std::chrono::nanoseconds LoopWatch::cpu_clock() {
    timespec at{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
}

void LoopWatch::end_exact_run(const Fiber* fiber) {
    const auto now = cpu_clock();
    if (now - cpu_at_begin_ > long_hold_)
        note(fiber, now - cpu_at_begin_);
    cpu_at_begin_ = now;
    run_began_ = coarse_clock();
}

void LoopWatch::note(const Fiber* fiber, std::chrono::nanoseconds held) {
    if (fiber == nullptr)
        return;
    ++holds_;
    ++newest_.count;
    if (held <= newest_.longest)
        return;
    newest_.longest = held;
    newest_.fiber = fiber->name;
    newest_.scope = fiber->scope_name;
}

}  // namespace live::io
