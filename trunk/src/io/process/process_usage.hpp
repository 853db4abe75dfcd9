// The CPU time and memory of a process, from procfs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sys/types.h>

namespace live::io {

struct ProcessUsage {
    double cpu_seconds = 0;  // of all its threads
    std::uint64_t resident_bytes = 0;
};

// nullopt if there is no such process. Reads a file of the kernel, which takes microseconds.
std::optional<ProcessUsage> usage_of(pid_t pid);

// Reads the text of /proc/PID/stat; see proc(5). nullopt if fields are missing.
std::optional<ProcessUsage> read_process_stat(std::string_view text, long ticks_per_second, long page_bytes);

}  // namespace live::io
