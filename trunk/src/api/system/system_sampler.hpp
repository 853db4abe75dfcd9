// SystemSampler: reads the machine and the process every few seconds, off the loop, and keeps the newest figures.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "api/common/server_info.hpp"
#include "api/system/machine_record.hpp"
#include "api/system/system_meter.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"

namespace live::api {

class SystemSampler {
public:
    static constexpr std::chrono::seconds kInterval{3};
    // The second reading comes sooner, so that rates exist soon after the start.
    static constexpr std::chrono::seconds kFirstInterval{1};

    // `counters` outlives this. `disks` as in SystemMeter.
    SystemSampler(const ServerCounters& counters, std::vector<std::string> disks)
        : counters_(counters), meter_(std::move(disks)) {}

    // Runs until cancelled.
    void run(io::Deadline deadline);
    // One reading. The figures stay unchanged when it fails.
    Result<void> sample(io::Deadline deadline);
    const SystemFigures& figures() const { return meter_.figures(); }
    // The last hour.
    const MachineRecord& record() const { return record_; }

private:
    const ServerCounters& counters_;
    SystemMeter meter_;
    MachineRecord record_;
};

}  // namespace live::api
