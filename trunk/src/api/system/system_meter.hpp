// SystemMeter: turns readings of /proc, a few seconds apart, into the API's figures: rates, shares, totals. Pure; the caller
// passes the readings and their times.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/common/server_info.hpp"
#include "api/system/proc_files.hpp"
#include "base/time.hpp"

namespace live::api {

// getrusage(2) of the process.
struct ResourceUsage {
    std::int64_t user_seconds = 0;
    std::int64_t system_seconds = 0;
    std::int64_t maxrss = 0;
    std::int64_t ixrss = 0;
    std::int64_t idrss = 0;
    std::int64_t isrss = 0;
    std::int64_t minflt = 0;
    std::int64_t majflt = 0;
    std::int64_t nswap = 0;
    std::int64_t inblock = 0;
    std::int64_t oublock = 0;
    std::int64_t msgsnd = 0;
    std::int64_t msgrcv = 0;
    std::int64_t nsignals = 0;
    std::int64_t nvcsw = 0;
    std::int64_t nivcsw = 0;
};

struct Reading {
    TimePoint when{};
    std::chrono::milliseconds unix_time{};
    ProcFiles files;
    // Interfaces with a public address.
    std::vector<std::string> internet_interfaces;
    ResourceUsage resources;
    std::uint64_t ticks_per_second = 100;
    int processors = 0;
    int processors_online = 0;
    ServerCounters::Totals totals;
};

// Shares are fractions from 0 to 1.
struct SystemFigures {
    // Rates and shares need two readings.
    bool is_complete = false;
    std::uint64_t peak_resident_kbyte = 0;
    ResourceUsage resources;
    SelfStat self_stat;
    CpuTicks cpu;
    double resident_share = 0;
    double self_cpu_share = 0;  // of one CPU
    double cpu_share = 0;       // of all CPUs
    std::uint64_t disk_read_kbyte_per_second = 0;
    std::uint64_t disk_write_kbyte_per_second = 0;
    double disk_busy_share = 0;
    Memory memory;
    double memory_share = 0;
    double swap_share = 0;
    int processors = 0;
    int processors_online = 0;
    Uptime uptime;
    Load load;
    InterfaceBytes internet;
    InterfaceBytes intranet;
    Sockets sockets;
    std::chrono::milliseconds sampled_at{};
    ServerCounters::Totals totals;
};

class SystemMeter {
public:
    // `disks`: names of block devices to measure; none selects every whole disk.
    explicit SystemMeter(std::vector<std::string> disks = {}) : disks_(std::move(disks)) {}

    void add(const Reading& reading);
    const SystemFigures& figures() const { return figures_; }

private:
    struct Counters {
        TimePoint when{};
        CpuTicks cpu;
        SelfTicks self;
        DiskTraffic disk;
        DiskBusy busy;
    };

    void measure_rates(const Counters& before, const Counters& after, std::uint64_t ticks_per_second);

    std::vector<std::string> disks_;
    std::optional<Counters> last_;
    SystemFigures figures_;
};

}  // namespace live::api
