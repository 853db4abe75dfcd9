// ApiFacts: the state of this process for the API: totals, virtual hosts, reload, drain and readiness. It reads the parts of the
// server for each request, and stores the state that only the API shows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/common/server_info.hpp"
#include "api/streams/stats_handlers.hpp"
#include "api/system/drain_handler.hpp"
#include "api/system/metrics_handlers.hpp"
#include "api/system/raw_handler.hpp"
#include "app/parts/drain.hpp"
#include "base/log/log.hpp"
#include "service/access_log/access_log.hpp"
#include "service/workers/worker_service.hpp"
#include "session/common/protocol.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/limits/connection_limits.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class ApiFacts final : public api::ServerCounters,
                       public api::VhostSettings,
                       public api::RawControl,
                       public api::DrainControl,
                       public api::Readiness {
public:
    // The parts outlive this. `protocols` may be filled later.
    struct Parts {
        const settings::CurrentSettings& settings;
        const session::Protocols& protocols;
        const session::FanOut& fan_out;
        const session::ConnectionLimits& places;
        const service::access_log::AccessLog& access_log;
        service::workers::WorkerService& workers;
        const Drain& drain;
        const Log& log;
    };
    explicit ApiFacts(const Parts& parts) : parts_(parts) {}

    Totals totals() const override;
    VhostSettings::Shown find(const std::string& name) const override;
    RawControl::Settings settings() const override;
    // In the process's own fiber, one after the other, as an operator's reloads.
    void request_reload() override;
    Reload last_reload() const override { return last_reload_; }
    api::DrainFacts facts() const override { return parts_.drain.facts(); }
    void request_drain() override;
    bool is_api_guarded() const override { return parts_.settings->http_api.auth.enabled; }
    bool is_ready() const override { return takes_clients_ && !facts().is_draining; }

    void note_reload(Reload reload) { last_reload_ = std::move(reload); }
    void note_warnings(std::vector<std::string> warnings) { conf_warnings_ = std::move(warnings); }
    void set_takes_clients(bool takes) { takes_clients_ = takes; }
    const std::vector<std::string>& conf_warnings() const { return conf_warnings_; }

private:
    const Parts parts_;
    Reload last_reload_;
    std::vector<std::string> conf_warnings_;
    bool takes_clients_ = false;
};

}  // namespace live::app
