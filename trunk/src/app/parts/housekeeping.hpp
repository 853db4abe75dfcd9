// Housekeeping: work done every second: unused sources are removed, services get their tick, free memory goes back to the system.
// Every few seconds the log reports the load.
#pragma once

#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/service_list.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::app {

class Housekeeping final : public service::Service {
public:
    // A stream object is kept this long after its last publisher and player have left.
    static constexpr std::chrono::seconds kStreamIdle{3};

    struct Parts {
        media::StreamTable& streams;
        session::ConnectionLimits& places;
        const session::FanOut& fan_out;
        service::ServiceList& services;
        // Between two log lines about the load; zero: none.
        std::chrono::seconds report_interval{5};
    };

    // The parts outlive this.
    Housekeeping(const Parts& parts, const Log& log) : parts_(parts), log_(log) {}

    std::string_view name() const override { return "housekeeping"; }
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;

private:
    void run(io::Deadline deadline);
    void expire_streams(io::Deadline deadline);

    const Parts parts_;
    const Log& log_;
};

}  // namespace live::app
