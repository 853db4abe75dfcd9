#include "app/parts/worker_links.hpp"

#include <csignal>
#include <utility>

namespace live::app {

WorkerLinks::WorkerLinks(const Shared& shared, const Log& log)
    : shared_(shared),
      service_(context(), shared.events, log.with_id("WRK")),
      forwarder_(
          service_, shared.names.takes_over,
          [&protocols = shared.protocols](const session::ForwardedDatagram& forwarded, MutBytes datagram) {
              session::take_datagram(protocols, forwarded, datagram);
          },
          log.with_id("WRK")),
      files_(service_, [this](const auto& player) { return shared_url(player); }),
      offers_(service_, shared.streams, [this](const auto& player) { return shared_url(player); }) {}

service::workers::WorkerContext WorkerLinks::context() {
    return {shared_.names.master,
            shared_.streams,
            shared_.http_client,
            shared_.serve,
            [] { std::raise(SIGTERM); },
            shared_.names.upgrade_listener,
            [this](io::Socket socket) { forwarder_.serve(std::move(socket)); },
            [this](const std::vector<engine::workers::Worker>& others) { forwarder_.on_others(others); }};
}

std::optional<std::string> WorkerLinks::shared_url(const session::ClientRequest& player) const {
    if (!shared_.admission.routing().is_of_workers(player.vhost))
        return std::nullopt;
    const auto plan = shared_.admission.vhosts().plan_for(player);
    return plan.ok() ? std::optional(plan->url) : std::nullopt;
}

void WorkerLinks::add_services(service::ServiceList& services) {
    services.add(service_);
    services.add(forwarder_);
}

}  // namespace live::app
