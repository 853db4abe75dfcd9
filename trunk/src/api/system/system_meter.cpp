#include "api/system/system_meter.hpp"

#include <algorithm>

namespace live::api {

namespace {

// 0 when `whole` is 0; never outside 0..1 although counters are read one after another.
double share(double part, double whole) { return whole > 0 ? std::clamp(part / whole, 0.0, 1.0) : 0.0; }

// A counter that went back (a device was removed) gives 0.
double growth(std::uint64_t before, std::uint64_t after) { return after > before ? static_cast<double>(after - before) : 0.0; }

}  // namespace

void SystemMeter::add(const Reading& reading) {
    const ProcFiles& files = reading.files;
    const Counters now{reading.when, parse_stat(files.stat), parse_self_stat(files.self_stat), parse_vmstat(files.vmstat),
                       parse_diskstats(files.diskstats, disks_)};
    if (last_) {
        measure_rates(*last_, now, reading.ticks_per_second);
        figures_.is_complete = true;
    }
    last_ = now;

    const Memory memory = parse_meminfo(files.meminfo);
    const double in_use = static_cast<double>(memory.total_kbyte) -
                          static_cast<double>(memory.free_kbyte + memory.buffers_kbyte + memory.cached_kbyte);
    figures_.memory = memory;
    figures_.memory_share = share(in_use, static_cast<double>(memory.total_kbyte));
    figures_.swap_share =
        share(growth(memory.swap_free_kbyte, memory.swap_total_kbyte), static_cast<double>(memory.swap_total_kbyte));
    figures_.resources = reading.resources;
    figures_.self_stat = parse_self_stat_fields(files.self_stat);
    figures_.cpu = now.cpu;
    figures_.peak_resident_kbyte = static_cast<std::uint64_t>(std::max<std::int64_t>(reading.resources.maxrss, 0));
    figures_.resident_share = share(static_cast<double>(figures_.peak_resident_kbyte), static_cast<double>(memory.total_kbyte));
    figures_.processors = reading.processors;
    figures_.processors_online = reading.processors_online;
    figures_.uptime = parse_uptime(files.uptime);
    figures_.load = parse_loadavg(files.loadavg);
    figures_.sockets = parse_sockets(files);
    figures_.sampled_at = reading.unix_time;
    figures_.totals = reading.totals;
    figures_.internet = {};
    figures_.intranet = {};
    for (const auto& [name, bytes] : parse_net_dev(files.net_dev)) {
        const auto& wide = reading.internet_interfaces;
        InterfaceBytes& sum = std::find(wide.begin(), wide.end(), name) != wide.end() ? figures_.internet : figures_.intranet;
        sum.received += bytes.received;
        sum.sent += bytes.sent;
    }
}

void SystemMeter::measure_rates(const Counters& before, const Counters& after, std::uint64_t ticks_per_second) {
    const double seconds = std::chrono::duration<double>(after.when - before.when).count();
    if (seconds <= 0)
        return;
    const double all = growth(before.cpu.total(), after.cpu.total());
    figures_.cpu_share = share(all - growth(before.cpu.idle(), after.cpu.idle()), all);
    // Several threads may use more than one CPU; the share shows it.
    figures_.self_cpu_share = growth(before.self.used, after.self.used) / (static_cast<double>(ticks_per_second) * seconds);
    figures_.disk_read_kbyte_per_second =
        static_cast<std::uint64_t>(growth(before.disk.read_kbyte, after.disk.read_kbyte) / seconds);
    figures_.disk_write_kbyte_per_second =
        static_cast<std::uint64_t>(growth(before.disk.written_kbyte, after.disk.written_kbyte) / seconds);
    const double busy = std::chrono::duration<double>(after.busy.busy - before.busy.busy).count();
    figures_.disk_busy_share = share(busy, seconds * after.busy.devices);
}

}  // namespace live::api
