// ProcessUsage: how much processor time and memory this process uses, for the periodic log line and the API.
#pragma once

#include <cstddef>

#include "base/time.hpp"

namespace live::app {

// Of the thread that asks, since it began.
Duration thread_processor_time();

// Of this process, as the kernel counts it. Zero when it cannot be read.
std::size_t resident_bytes();

class ProcessUsage {
public:
    struct Sample {
        double cpu_percent = 0;  // of one core, since the sample before
        std::size_t resident_bytes = 0;
    };

    Sample sample(TimePoint now);

private:
    TimePoint last_time_{};
    Duration last_cpu_{};
};

}  // namespace live::app
