// ApiWiring: the endpoints of the HTTP API (api/common/routes.cpp), with the handlers that concern the whole process. Parts add
// their own (app/parts/part.hpp), and WebRTC adds its own when it starts.
#pragma once

#include <string>
#include <vector>

#include "api/common/endpoints.hpp"
#include "api/debug/valgrind_handler.hpp"
#include "api/streams/stats_handlers.hpp"
#include "api/system/drain_handler.hpp"
#include "api/system/metrics_handlers.hpp"
#include "api/system/raw_handler.hpp"
#include "api/system/system_sampler.hpp"
#include "api/system/upgrade_handler.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class ApiWiring {
public:
    // The subjects of the API; they outlive the wiring.
    struct Sources {
        const ServerNames& names;
        const api::ServerCounters& counters;
        service::stats::StreamStats& stream_stats;
        const api::VhostSettings& vhosts;
        api::RawControl& raw;
        const session::FanOutCounters& fan_out;
        const session::ConnectionLimits& places;
        const api::Readiness& readiness;
        const session::Protocols& protocols;
        const media::AudioTranscoders& transcoders;
        const service::ServiceList& services;
        service::relay::RelayService& relay;
        service::forward::ForwardService& forwards;
        service::workers::WorkerService& workers;
        api::DrainControl& drain;
        api::UpgradeControl& upgrade;
        const std::vector<std::string>& conf_warnings;
    };

    ApiWiring(const settings::CurrentSettings& settings, const Sources& sources, const Log& log);
    ApiWiring(const ApiWiring&) = delete;
    ApiWiring& operator=(const ApiWiring&) = delete;

    api::Endpoints& endpoints() { return endpoints_; }
    // Starts the sampler and the leak checks.
    Result<void> start(const settings::Settings& settings, io::Scope& fibers);
    // The "data" of /api/v1/summaries, as JSON text.
    std::string summaries() const;

private:
    void add_inspection(const session::Protocols& protocols, const Log& log);

    api::ServerInfo info_;
    api::SystemSampler sampler_;
    api::Endpoints endpoints_{info_};
    api::ValgrindHandler* valgrind_ = nullptr;  // nullptr in ordinary builds
};

}  // namespace live::app
