// CPU profile of the loop's thread: a kernel timer interrupts it every 10 ms of its CPU time, and the handler records the call
// chain by frame pointers, across fiber stacks. Waiting uses no CPU time and does not show up; neither do worker threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"

namespace live::io {

struct CpuProfile {
    static constexpr std::chrono::milliseconds kPeriod{10};
    // Frames per sample; the outermost ones beyond this are dropped.
    static constexpr std::size_t kDepthMax = 64;
    static constexpr std::chrono::seconds kDurationMax{60};

    // For each sample: the number of consecutive occurrences, the number of addresses, and the addresses, innermost first. All
    // but the first are return addresses.
    std::vector<std::uintptr_t> words;
    std::size_t samples = 0;
};

// Samples for `duration` (kDurationMax at most) while other fibers run. Errc::conflict when a profile is already being taken,
// also by a linked-in profiler; Errc::system, Errc::cancelled.
Result<CpuProfile> profile_cpu(std::chrono::milliseconds duration, Deadline deadline);

}  // namespace live::io
