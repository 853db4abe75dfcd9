#include "app/parts/ports.hpp"

#include "app/wiring/caster_wiring.hpp"

namespace live::app {

Ports::Ports(const Shared& shared, const Log& log)
    : rtmp_(shared.settings,
            {shared.streams.table(), shared.admission, shared.admission.vhosts(), shared.events, shared.streams.fan_out(),
             shared.clients.table(), shared.clients.places(), shared.clients.scratch(), shared.names.process_id,
             shared.names.identity(), shared.names.workers_secret},
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
           shared.names.identity().is_first(), log) {
    // One line for each protocol.
    others_.push_back(std::make_unique<CasterWiring>(shared.settings, live_, shared.clients.scratch(), shared.clients.places(),
                                                     shared.streams.transports(), shared.names.identity(), log));
}

void Ports::add_services(service::ServiceList& services) {
    services.add(rtmp_);
    services.add(rtc_);
    services.add(srt_);
    for (const auto& other : others_)
        services.add(*other);
}

}  // namespace live::app
