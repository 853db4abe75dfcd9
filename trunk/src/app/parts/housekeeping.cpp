#include "app/parts/housekeeping.hpp"

#include <chrono>

#include "app/memory/memory_trimmer.hpp"
#include "app/memory/process_usage.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"
#include "io/tls/openssl_memory.hpp"

namespace live::app {

namespace {

void log_long_holds(const Log& log) {
    const io::LoopWatch::Holds holds = io::Loop::watch().take_holds();
    if (holds.count > 0)
        LOG_WARN(log, "the event loop was blocked {} times, longest {:.1f} ms by fiber {} of {}", holds.count,
                 std::chrono::duration<double, std::milli>(holds.longest).count(), holds.fiber,
                 holds.scope.empty() ? "the process" : holds.scope);
}

// Logged at once: other lines about this moment have their cause there.
void log_pauses(const Log& log, std::uint64_t& seen) {
    if (std::exchange(seen, io::pauses().count()) != seen)
        LOG_WARN(log, "the process did not run for {} ms: stopped, migrated or suspended; client time limits are extended",
                 io::pauses().last_length() / std::chrono::milliseconds(1));
}

}  // namespace

Result<void> Housekeeping::start(io::Scope& fibers, io::Deadline) {
    return fibers.start("housekeeping", [this](io::Deadline forever) { run(forever); });
}

// In portions: all publishers of an address may leave at the same moment.
void Housekeeping::expire_streams(io::Deadline deadline) {
    for (;;) {
        const auto expired = parts_.streams.expire(io::now(), kStreamIdle);
        for (const std::string& url : expired)
            LOG_INFO(log_, "Live: cleanup die source, id=[{}], total={}", url, parts_.streams.size());
        if (expired.empty() || !io::yield(deadline).ok())
            return;
    }
}

void Housekeeping::run(io::Deadline deadline) {
    auto& [streams, places, fan_out, services, report_interval] = parts_;
    ProcessUsage usage;
    TrimClock trim_clock;
    // Ignores the holds of the start.
    io::Loop::watch().take_holds();
    std::uint64_t seen_pauses = io::pauses().count();
    for (int round = 1;; ++round) {
        if (!io::sleep(deadline.sooner(io::Deadline::after(std::chrono::seconds(1)))).ok())
            return;
        log_pauses(log_, seen_pauses);
        expire_streams(deadline);
        services.on_tick();
        if (trim_clock.is_due(io::now(), io::openssl_bytes() + places.bytes() + places.memory().used())) {
            io::Loop::release_stacks();
            static_cast<void>(give_memory_back());
        }
        if (report_interval.count() == 0 || round % report_interval.count() != 0)
            continue;
        log_long_holds(log_);
        const auto sample = usage.sample(io::now());
        const auto& sent = fan_out.counters();
        LOG_INFO(log_, "Hybrid cpu={:.2f}%,{}MB, clients={}, streams={}, fanout sends={}, bytes={}, handed back={}",
                 sample.cpu_percent, sample.resident_bytes >> 20, places.used(), streams.size(), sent.sends, sent.bytes,
                 sent.handed_back);
    }
}

}  // namespace live::app
