// ProcessUsage: CPU time and memory of this process, for the periodic log line and the API.
#pragma once

#include <cstddef>

#include "base/time.hpp"

namespace live::app {

// Returns the CPU time of the calling thread.
Duration thread_processor_time();

// Returns the resident memory of this process, or zero when it cannot be read.
std::size_t resident_bytes();

class ProcessUsage {
public:
    struct Sample {
        double cpu_percent = 0;  // of one core, since the previous sample
        std::size_t resident_bytes = 0;
    };

    Sample sample(TimePoint now);

private:
    TimePoint last_time_{};
    Duration last_cpu_{};
};

}  // namespace live::app
