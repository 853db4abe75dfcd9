// FirstWorkerServices: the services that run once per server, in the first of several workers: ingests and the heartbeat. The
// ingests on demand are in all workers: the one with the first viewer pulls.
#pragma once

#include "api/streams/ingests_handler.hpp"
#include "app/parts/outgoing_calls.hpp"
#include "app/parts/part.hpp"
#include "app/parts/ports.hpp"
#include "app/vhosts/ingests.hpp"
#include "app/wiring/heartbeat_facts.hpp"
#include "app/wiring/http_wiring.hpp"
#include "app/wiring/listening.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "base/version.hpp"
#include "service/acme/acme_service.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/heartbeat/heartbeat.hpp"
#include "service/ingest/ingest_service.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class FirstWorkerServices final : public Part {
public:
    // All must outlive this. `protocols` may be filled later.
    struct Shared {
        const settings::CurrentSettings& settings;
        const ServerNames& names;
        OutgoingCalls& calls;
        Ports& ports;
        media::StreamTable& streams;
        service::admission::AdmissionPolicies& admission;
        const HttpWiring& http;
        const session::Protocols& protocols;
        ClientCore& clients;
    };
    FirstWorkerServices(const Shared& shared, const Log& log)
        : is_first_(shared.names.identity().is_first()),
          wanted_ingests_(shared.settings, shared.admission.vhosts(),
                          [&ports = shared.ports] { return ports.rtmp().endpoints(); }),
          ingests_(wanted_ingests_,
                   {shared.streams, &shared.ports.srt().dialler(), &shared.ports.rtsp().dialler(), shared.calls.tls(), is_first_},
                   log),
          facts_(shared.settings, shared.names, shared.http, shared.protocols),
          heartbeat_(shared.calls.http(), facts_, log),
          has_acme_(shared.settings->acme.enabled),
          challenges_(service::acme::files_beside(shared.settings->pid).challenge),
          acme_(shared.settings->acme, service::acme::files_beside(shared.settings->pid),
                {shared.calls.http(), shared.clients.scratch(), shared.clients.places(),
                 [&shared_settings = shared.settings, &log] { return acme_listeners(*shared_settings, log); },
                 std::string(kSignature)},
                log) {}

    void add_services(service::ServiceList& services) override {
        if (is_first_)
            services.add(heartbeat_);
        if (is_first_ && has_acme_)
            services.add(acme_);
        services.add(ingests_);
    }
    void add_routes(HttpWiring& http) override {
        http.endpoints().add<api::IngestsHandler>("/api/v1/ingests", http.endpoints().server(), ingests_);
        if (has_acme_)
            for (const HttpPorts::Role role : {HttpPorts::Role::streams, HttpPorts::Role::both})
                http.ports().router(role).add(std::string(service::acme::ChallengeHandler::kPath), challenges_);
    }
    service::ingest::StreamsOnDemand& streams_on_demand() { return ingests_; }

private:
    const bool is_first_;
    Ingests wanted_ingests_;
    service::ingest::IngestService ingests_;
    HeartbeatFacts facts_;
    service::heartbeat::Heartbeat heartbeat_;
    const bool has_acme_;
    service::acme::ChallengeHandler challenges_;
    service::acme::AcmeService acme_;
};

}  // namespace live::app
