// Programs: the services that run programs for published streams: ladders, and the operator's own.
#pragma once

#include "api/streams/transcodes_handler.hpp"
#include "app/parts/part.hpp"
#include "app/parts/ports.hpp"
#include "app/parts/stream_core.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/http_wiring.hpp"
#include "base/log/log.hpp"
#include "service/exec/exec_service.hpp"
#include "service/ladder/ladder_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Programs final : public Part {
public:
    // All must outlive this.
    Programs(const settings::CurrentSettings& settings, StreamCore& streams, Ports& ports, const Log& log)
        : ladder_options_(settings, &settings::Vhost::ladder),
          ladders_(streams.table(), ladder_options_, log),
          exec_options_(settings, &settings::Vhost::exec),
          exec_(exec_options_, exec_context(settings, ports), log) {}

    void add_services(service::ServiceList& services) override {
        services.add(ladders_);
        services.add(exec_);
    }
    void add_routes(HttpWiring& http) override {
        api::Endpoints& endpoints = http.endpoints();
        endpoints.add<api::TranscodesHandler>(api::TranscodesHandler::kPath, endpoints.server(), ladders_);
    }

private:
    static service::exec::ExecService::Context exec_context(const settings::CurrentSettings& settings, Ports& ports) {
        constexpr std::uint16_t kUsualPort = 1935;
        return {[&ports] {
                    const auto endpoints = ports.rtmp().endpoints();
                    return endpoints.empty() ? kUsualPort : endpoints.front().port;
                },
                settings->utc_time ? Zone::utc : Zone::local, settings->pithy_print};
    }

    VhostOptions<service::ladder::LadderOptions> ladder_options_;
    service::ladder::LadderService ladders_;
    VhostOptions<service::exec::ExecOptions> exec_options_;
    service::exec::ExecService exec_;
};

}  // namespace live::app
