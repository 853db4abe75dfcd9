#include "app/parts/ports.hpp"

#include "api/streams/gb_handler.hpp"
#include "api/streams/rtp_server_handler.hpp"
#include "app/wiring/caster_wiring.hpp"

namespace live::app {

Ports::Ports(const Shared& shared, const Log& log)
    : rtmp_(shared.settings,
            {shared.streams.table(), shared.admission, shared.admission.vhosts(), shared.events, shared.streams.fan_out(),
             shared.clients.table(), shared.clients.places(), shared.clients.scratch(), shared.names.process_id,
             shared.names.identity(), shared.names.workers_secret, &shared.clients.users()},
            log),
      mounts_(shared.settings, shared.streams.table()),
      live_{shared.streams.table(), mounts_, shared.admission, shared.events, shared.streams.fan_out(), shared.clients.table()},
      live_player_(live_),
      rtc_(shared.settings,
           {shared.streams.table(), shared.admission, shared.admission.vhosts(), shared.events, shared.clients.table(),
            shared.clients.places(), shared.clients.scratch(), shared.http, shared.names.identity(), shared.workers.forwarder(),
            shared.workers.offers()},
           log),
      srt_(shared.settings,
           {shared.streams.table(), shared.admission, shared.admission.vhosts(), shared.events, shared.clients.table(),
            shared.clients.places(), shared.workers.forwarder(), shared.streams.transports()},
           shared.names.identity().is_first(), log),
      rtsp_(shared.settings,
            {shared.streams.table(), shared.admission, shared.admission.vhosts(), shared.events, shared.streams.fan_out(),
             shared.clients.table(), shared.clients.places(), shared.clients.scratch(), shared.clients.users(),
             shared.names.identity(), shared.names.workers_secret},
            log) {
    // One line for each protocol.
    others_.push_back(std::make_unique<CasterWiring>(shared.settings, live_, shared.clients.scratch(), shared.clients.places(),
                                                     shared.streams.transports(), shared.names.identity(), log));
    add_gb28181(shared, log);
}

// One worker has the ports and the sessions; the settings allow one such caster.
void Ports::add_gb28181(const Shared& shared, const Log& log) {
    const settings::StreamCasterOptions* const caster = shared.settings->find_caster("gb28181");
    if (caster == nullptr || !shared.names.identity().is_first())
        return;
    const session::gb28181::Context context{shared.streams.table(),
                                            shared.admission,
                                            shared.events,
                                            shared.clients.table(),
                                            shared.clients.places(),
                                            shared.clients.scratch(),
                                            {caster->output, caster->media_connect_timeout}};
    auto service = std::make_unique<service::gb28181::Gb28181Service>(context, caster->listen, log);
    gb28181_ = service.get();
    zlm_api_ = caster->zlm_api;
    others_.push_back(std::move(service));
}

void Ports::add_routes(HttpWiring& http) {
    http.add_streams(live_player_);
    http.ports().certificates().add_to(expiries_);
    if (gb28181_ == nullptr)
        return;
    api::Endpoints& endpoints = http.endpoints();
    endpoints.add<api::GbPublishHandler>("/gb/v1/publish/", endpoints.server(), gb28181_->directory());
    endpoints.add<api::GbSessionsHandler>("/gb/v1/sessions", endpoints.server(), gb28181_->directory());
    if (!zlm_api_.enabled)
        return;
    for (const char* call : {"open", "connect", "close", "list"})
        endpoints.add<api::RtpServerHandler>("/index/api/" + std::string(call) + "RtpServer", gb28181_->directory(),
                                             zlm_api_.secret);
}

void Ports::add_services(service::ServiceList& services) {
    services.add(rtmp_);
    services.add(rtc_);
    services.add(srt_);
    services.add(rtsp_);
    expiries_.add(rtmp_.certificate());
    expiries_.add(rtsp_.certificate());
    services.add(expiries_);
    for (const auto& other : others_)
        services.add(*other);
}

}  // namespace live::app
