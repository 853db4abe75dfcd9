// Heartbeat: periodically reports to an operator's service that this server is alive. The response is ignored.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "service/heartbeat/options.hpp"
#include "service/http_client/http_client.hpp"
#include "service/service.hpp"

namespace live::service::heartbeat {

// The facts in a report. Endpoints are as configured; those of other protocols with the prefix "udp://" or "tcp://".
struct Facts {
    std::string ip;
    std::string server_id;
    std::string service_id;
    std::int64_t process_id = 0;
    std::string summaries;  // the `data` of /api/v1/summaries as JSON text; only asked for with HeartbeatOptions::summaries
    std::vector<std::string> rtmp;
    std::vector<std::string> http;
    std::vector<std::string> api;
    // The other protocols by name. One that is off has no addresses.
    std::vector<std::pair<std::string, std::vector<std::string>>> others;
};

// Whether the beats go to a proxy of origins, as registrations. It takes bare ports only, and connects to `ip`.
bool is_registration(const HeartbeatOptions& options);

// One JSON object. Pure. A registration has the ports that can be reached at Facts::ip, whether or not ports are asked for.
std::string body_of(const HeartbeatOptions& options, const Facts& facts);

// Provides the facts, current at each report.
class HeartbeatSource {
public:
    virtual HeartbeatOptions options() const = 0;
    virtual Facts facts() const = 0;

protected:
    ~HeartbeatSource() = default;
};

class Heartbeat final : public Service {
public:
    static constexpr std::chrono::seconds kCallLimit{30};

    // The references outlive this.
    Heartbeat(const http_client::HttpClient& client, const HeartbeatSource& source, Log log);

    // Starts a fiber, which sleeps while the heartbeat is switched off.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void apply(io::Deadline) override { changed_.raise(); }
    std::string_view name() const override { return "the heartbeat"; }

private:
    void run(io::Deadline deadline);
    void check_reach(const HeartbeatOptions& options, const Facts& facts);
    Result<void> beat(const HeartbeatOptions& options, io::Deadline deadline);

    const http_client::HttpClient& client_;
    const HeartbeatSource& source_;
    Log log_;
    Signal changed_;
    bool unreachable_logged_ = false;
};

}  // namespace live::service::heartbeat
