// Programs: the services that run programs for published streams: ladders, the engines of transcode {}, the operator's own, and
// slates.
#pragma once

#include <vector>

#include "api/streams/transcodes_handler.hpp"
#include "app/parts/client_core.hpp"
#include "app/parts/part.hpp"
#include "app/parts/ports.hpp"
#include "app/parts/stream_core.hpp"
#include "app/vhosts/vhost_engines.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/http_wiring.hpp"
#include "base/log/log.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/engines/engine_service.hpp"
#include "service/exec/exec_service.hpp"
#include "service/ladder/ladder_service.hpp"
#include "service/slate/slate_service.hpp"
#include "session/common/admission.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Programs final : public Part {
public:
    // All must outlive this. Admission is used for streams only, so it may be completed later.
    struct Shared {
        const settings::CurrentSettings& settings;
        StreamCore& streams;
        ClientCore& clients;
        service::admission::AdmissionPolicies& admission;
        session::StreamEvents& events;
        Ports& ports;
    };
    Programs(const Shared& shared, const Log& log)
        : ladder_options_(shared.settings, &settings::Vhost::ladder),
          ladders_(
              shared.streams.table(), ladder_options_, [&settings = shared.settings] { return settings->ff_log_dir; }, log),
          engine_options_(shared.settings),
          engines_(engine_options_, engine_context(shared), log),
          exec_options_(shared.settings, &settings::Vhost::exec),
          exec_(exec_options_, exec_context(shared.settings, shared.ports), log),
          slate_options_(shared.settings, &settings::Vhost::publish),
          slates_({shared.streams.table(), shared.events, slate_options_,
                   [&settings = shared.settings] {
                       std::vector<media::PublishOptions> all;
                       for (const settings::Vhost& vhost : settings->vhosts)
                           if (vhost.enabled)
                               all.push_back(vhost.publish);
                       return all;
                   },
                   shared.settings->workers != "1" || !shared.settings->cluster.registry.empty()},
                  log) {}

    service::engines::EngineService& engines() { return engines_; }
    service::slate::SlateService& slates() { return slates_; }

    void add_services(service::ServiceList& services) override {
        services.add(ladders_);
        services.add(engines_);
        services.add(exec_);
        services.add(slates_);
    }
    void add_routes(HttpWiring& http) override {
        api::Endpoints& endpoints = http.endpoints();
        endpoints.add<api::TranscodesHandler>(api::TranscodesHandler::kPath, endpoints.server(), ladders_, engines_);
    }

private:
    static constexpr std::uint16_t kUsualPort = 1935;

    static service::exec::ExecService::Context exec_context(const settings::CurrentSettings& settings, Ports& ports) {
        return {[&ports] {
                    const auto endpoints = ports.rtmp().endpoints();
                    return endpoints.empty() ? kUsualPort : endpoints.front().port;
                },
                settings->utc_time ? Zone::utc : Zone::local, settings->pithy_print};
    }
    static service::engines::EngineService::Context engine_context(const Shared& shared) {
        return {{shared.streams.table(), shared.admission, shared.events, shared.clients.table()},
                [&settings = shared.settings, &ports = shared.ports] {
                    service::engines::Place place;
                    for (const Endpoint& endpoint : ports.rtmp().endpoints())
                        place.rtmp_ports.push_back(endpoint.port);
                    place.log_level = settings->ff_log_level;
                    place.log_dir = settings->ff_log_dir;
                    place.zone = settings->utc_time ? Zone::utc : Zone::local;
                    return place;
                },
                [&admission = shared.admission](const session::ClientRequest& stream) {
                    const auto plan = admission.vhosts().plan_for(stream);
                    return plan.ok() ? plan->url : std::string();
                }};
    }

    VhostOptions<service::ladder::LadderOptions> ladder_options_;
    service::ladder::LadderService ladders_;
    VhostEngines engine_options_;
    service::engines::EngineService engines_;
    VhostOptions<service::exec::ExecOptions> exec_options_;
    service::exec::ExecService exec_;
    VhostOptions<media::PublishOptions> slate_options_;
    service::slate::SlateService slates_;
};

}  // namespace live::app
