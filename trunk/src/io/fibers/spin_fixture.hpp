// For tests of whose turn it is: work, and time, as this thread's CPU counts it. A busy machine changes neither.
#pragma once

#include <chrono>
#include <ctime>

namespace live::io {

inline std::chrono::nanoseconds cpu_time() {
    timespec at{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return std::chrono::seconds(at.tv_sec) + std::chrono::nanoseconds(at.tv_nsec);
}

inline void spin(std::chrono::nanoseconds time) {
    const auto until = cpu_time() + time;
    while (cpu_time() < until) {
    }
}

}  // namespace live::io
