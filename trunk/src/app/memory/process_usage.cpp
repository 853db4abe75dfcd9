#include "app/memory/process_usage.hpp"

#include <cstdio>
#include <ctime>
#include <memory>

#include <unistd.h>

namespace live::app {

namespace {

Duration processor_time(::clockid_t clock) {
    ::timespec used{};
    ::clock_gettime(clock, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

}  // namespace

// The second number in /proc/self/statm: resident pages (proc(5)).
std::size_t resident_bytes() {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/statm", "re"), &std::fclose);
    unsigned long size = 0;
    unsigned long resident = 0;
    if (file == nullptr || std::fscanf(file.get(), "%lu %lu", &size, &resident) != 2)
        return 0;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

Duration thread_processor_time() { return processor_time(CLOCK_THREAD_CPUTIME_ID); }

ProcessUsage::Sample ProcessUsage::sample(TimePoint now) {
    const Duration cpu = processor_time(CLOCK_PROCESS_CPUTIME_ID);
    Sample sample;
    if (last_time_ != TimePoint{} && now > last_time_)
        sample.cpu_percent =
            100.0 * std::chrono::duration<double>(cpu - last_cpu_) / std::chrono::duration<double>(now - last_time_);
    sample.resident_bytes = resident_bytes();
    last_time_ = now;
    last_cpu_ = cpu;
    return sample;
}

}  // namespace live::app
