// Where the loop's thread spends its processor time: a timer of the kernel interrupts it every 10 ms of that time, and the
// handler notes the call chain by frame pointers, through fibers' stacks. Waiting costs no time and is not seen; neither are
// worker threads.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "io/deadline.hpp"

namespace live::io {

struct CpuProfile {
    static constexpr std::chrono::milliseconds kPeriod{10};
    // Frames of a sample; what is above them is left out.
    static constexpr std::size_t kDepthMax = 64;
    static constexpr std::chrono::seconds kDurationMax{60};

    // For each sample: how often it was seen at once, how many addresses follow, and these, the innermost first. All but the
    // first are return addresses.
    std::vector<std::uintptr_t> words;
    std::size_t samples = 0;
};

// Samples for `duration` (at most kDurationMax counts) while other fibers run. Errc::conflict when a profile is being taken
// already, also by a profiler that was linked in; Errc::system, Errc::cancelled.
Result<CpuProfile> profile_cpu(std::chrono::milliseconds duration, Deadline deadline);

}  // namespace live::io
