// MachineRecord: the last hour of the process: bit rates, CPU, memory, connections, and the lag of the loop. Dry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "api/system/system_meter.hpp"
#include "base/time.hpp"
#include "io/fibers/loop_watch.hpp"
#include "service/stats/history.hpp"

namespace live::api {

struct MachinePoint {
    float received_kbps = 0;
    float sent_kbps = 0;
    float cpu_share = 0;          // of one CPU
    float machine_cpu_share = 0;  // of all CPUs
    float lag_seconds = 0;        // 99 % of the turns of the loop are at most this late
    std::uint32_t connections = 0;
    std::uint64_t resident_bytes = 0;
};

class MachineRecord {
public:
    using LagCounts = std::array<std::uint64_t, std::size(io::LoopWatch::kLagBounds) + 1>;

    // `lag`: turns of the loop since the start, by their lag.
    void add(TimePoint now, const SystemFigures& figures, const LagCounts& lag);
    const service::stats::History<MachinePoint>& history() const { return history_; }

private:
    struct Last {
        TimePoint at{};
        std::uint64_t received_bytes = 0;
        std::uint64_t sent_bytes = 0;
        LagCounts lag{};
    };

    service::stats::History<MachinePoint> history_;
    std::optional<Last> last_;
};

// The lowest bound that at least `share` of the values do not exceed; the highest bound when values above it are needed. 0
// without values. `counts` has one value for each bound, and one for larger values.
double bound_of_share(std::span<const std::uint64_t> counts, std::span<const double> bounds, double share);

}  // namespace live::api
