// ApiFacts: the answers of this process to the questions of the API: totals, virtual hosts, origins of a cluster, reload, drain
// and readiness. It reads the parts of the server when it is asked, and remembers what only the API shows.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/common/server_info.hpp"
#include "api/streams/clusters_handler.hpp"
#include "api/streams/stats_handlers.hpp"
#include "api/system/drain_handler.hpp"
#include "api/system/metrics_handlers.hpp"
#include "api/system/raw_handler.hpp"
#include "app/drain.hpp"
#include "base/log/log.hpp"
#include "media/source/stream_table.hpp"
#include "service/access_log/access_log.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/relay/relay_service.hpp"
#include "service/workers/worker_service.hpp"
#include "session/common/protocol.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/limits/connection_limits.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class ApiFacts final : public api::ServerCounters,
                       public api::VhostSettings,
                       public api::ClusterFacts,
                       public api::RawControl,
                       public api::DrainControl,
                       public api::Readiness {
public:
    // The parts outlive this. `protocols` may be filled later.
    struct Parts {
        const settings::CurrentSettings& settings;
        const service::admission::VhostPolicy& vhosts;
        const media::StreamTable& streams;
        const session::Protocols& protocols;
        const session::FanOut& fan_out;
        const session::ConnectionLimits& places;
        const service::access_log::AccessLog& access_log;
        const service::relay::RelayService& relay;
        service::workers::WorkerService& workers;
        const Drain& drain;
        const Log& log;
    };
    explicit ApiFacts(const Parts& parts) : parts_(parts) {}

    Totals totals() const override;
    VhostSettings::Shown find(const std::string& name) const override;
    std::optional<Reach> find(const std::string& vhost, const std::string& app, const std::string& stream) const override;
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
