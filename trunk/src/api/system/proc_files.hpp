// Figures from the kernel's /proc files. Parsing is pure, and a file that is missing or looks different leaves its figures at
// zero: an operator's view of the machine must not depend on the kernel's version.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace live::api {

// The texts of the files that make up a sample. Reading blocks, so it runs off the loop.
struct ProcFiles {
    std::string stat;
    std::string self_stat;
    std::string meminfo;
    std::string loadavg;
    std::string uptime;
    std::string vmstat;
    std::string diskstats;
    std::string net_dev;
    std::string snmp;
    std::string sockstat;
    std::string sockstat6;
};
// At most kProcFileBytesMax of each.
inline constexpr std::size_t kProcFileBytesMax = 1 << 20;
ProcFiles read_proc_files();

// Clock ticks since the machine's boot, summed over all CPUs.
struct CpuTicks {
    std::uint64_t user = 0;
    std::uint64_t nice = 0;
    std::uint64_t system = 0;
    std::uint64_t idle_alone = 0;
    std::uint64_t io_wait = 0;
    std::uint64_t irq = 0;
    std::uint64_t soft_irq = 0;
    std::uint64_t steal = 0;
    std::uint64_t guest = 0;  // also included in `user`
    int processors = 0;

    // Idle, or waiting for the disk only.
    std::uint64_t idle() const { return idle_alone + io_wait; }
    std::uint64_t total() const { return user + nice + system + idle() + irq + soft_irq + steal; }
};
CpuTicks parse_stat(std::string_view text);

// Clock ticks of user and system time of the process.
struct SelfTicks {
    std::uint64_t used = 0;
};
SelfTicks parse_self_stat(std::string_view text);

// /proc/self/stat in the kernel's terms.
struct SelfStat {
    static constexpr std::size_t kNumbersMax = 64;

    std::string pid;
    std::string command;
    std::string state;
    std::vector<std::string> numbers;  // everything after the state; whole numbers only

    std::uint64_t resident_pages() const;
};
SelfStat parse_self_stat_fields(std::string_view text);

struct Memory {
    std::uint64_t total_kbyte = 0;
    std::uint64_t free_kbyte = 0;
    std::uint64_t buffers_kbyte = 0;
    std::uint64_t cached_kbyte = 0;
    std::uint64_t swap_total_kbyte = 0;
    std::uint64_t swap_free_kbyte = 0;
};
Memory parse_meminfo(std::string_view text);

struct Load {
    double one_minute = 0;
    double five_minutes = 0;
    double fifteen_minutes = 0;
};
Load parse_loadavg(std::string_view text);

struct Uptime {
    double seconds = 0;
    double idle_seconds = 0;  // summed over CPUs
};
Uptime parse_uptime(std::string_view text);

// Kilobytes to and from block devices since the machine's boot.
struct DiskTraffic {
    std::uint64_t read_kbyte = 0;
    std::uint64_t written_kbyte = 0;
};
DiskTraffic parse_vmstat(std::string_view text);

// Busy time of the devices since boot, and their number. An empty list selects every whole disk.
struct DiskBusy {
    std::chrono::milliseconds busy{};
    int devices = 0;
};
DiskBusy parse_diskstats(std::string_view text, const std::vector<std::string>& wanted);

struct InterfaceBytes {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
};
// By interface name.
std::map<std::string, InterfaceBytes, std::less<>> parse_net_dev(std::string_view text);

struct Sockets {
    std::uint64_t tcp = 0;
    std::uint64_t tcp_established = 0;
    std::uint64_t tcp_time_wait = 0;
    std::uint64_t udp = 0;
};
Sockets parse_sockets(const ProcFiles& files);

}  // namespace live::api
