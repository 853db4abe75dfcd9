#include "api/system/system_sampler.hpp"

#include <algorithm>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/net/network_interfaces.hpp"

namespace live::api {

namespace {

// By IPv4, as operators see it: an interface with a private address serves the intranet.
std::vector<std::string> internet_interfaces(const std::vector<io::InterfaceAddress>& addresses) {
    std::vector<std::string> wide;
    for (const io::InterfaceAddress& address : addresses)
        if (address.ip.find(':') == std::string::npos && !io::is_private_address(address.ip))
            wide.push_back(address.name);
    std::erase_if(wide, [&](const std::string& name) {
        return std::any_of(addresses.begin(), addresses.end(), [&](const io::InterfaceAddress& address) {
            return address.name == name && address.ip.find(':') == std::string::npos && io::is_private_address(address.ip);
        });
    });
    return wide;
}

ResourceUsage resource_usage() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0)
        return {};
    return {usage.ru_utime.tv_sec, usage.ru_stime.tv_sec, usage.ru_maxrss, usage.ru_ixrss,   usage.ru_idrss,   usage.ru_isrss,
            usage.ru_minflt,       usage.ru_majflt,       usage.ru_nswap,  usage.ru_inblock, usage.ru_oublock, usage.ru_msgsnd,
            usage.ru_msgrcv,       usage.ru_nsignals,     usage.ru_nvcsw,  usage.ru_nivcsw};
}

// Blocks, so it is called in a worker; touches nothing of the loop.
Result<Reading> read_machine() {
    Reading reading;
    reading.files = read_proc_files();
    reading.internet_interfaces = internet_interfaces(TRY(io::interface_addresses()));
    reading.resources = resource_usage();
    if (const long ticks = ::sysconf(_SC_CLK_TCK); ticks > 0)
        reading.ticks_per_second = static_cast<std::uint64_t>(ticks);
    reading.processors = static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_CONF), 1L));
    reading.processors_online = static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
    reading.unix_time =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
    return reading;
}

}  // namespace

Result<void> SystemSampler::sample(io::Deadline deadline) {
    Reading reading = TRY(io::off_loop(read_machine, deadline));
    reading.when = io::now();
    reading.totals = counters_.totals();
    meter_.add(reading);
    record_.add(reading.when, meter_.figures(), io::Loop::watch().lag().counts());
    return {};
}

void SystemSampler::run(io::Deadline deadline) {
    for (;;) {
        const bool had_any = meter_.figures().sampled_at > std::chrono::milliseconds::zero();
        const auto limit = io::Deadline::after(kInterval);
        if (const auto sampled = sample(deadline.sooner(limit)); !sampled.ok() && sampled.code() == Errc::cancelled)
            return;
        if (!io::sleep(deadline.sooner(io::Deadline::after(had_any ? kInterval : kFirstInterval))).ok())
            return;
    }
}

}  // namespace live::api
