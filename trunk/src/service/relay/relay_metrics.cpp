#include "service/relay/relay_service.hpp"

namespace live::service::relay {

// Only the kind of client: pulls are not counted in the traffic of clients.
std::optional<session::Protocol> RelayService::protocol() {
    return session::Protocol{.name = "relay", .kinds = {{session::ClientKind::relay_pull, std::nullopt}}};
}

void RelayService::write_metrics(MetricsText& text) const {
    const auto& totals = this->totals();
    const auto& joins = this->joins();
    text.family("millrace_relay_streams", MetricsText::Type::gauge,
                "Streams that this edge pulls from an origin or pushes to one.")
        .sample(std::uint64_t{list().size()}, {{"direction", "pull"}})
        .sample(std::uint64_t{pushes()}, {{"direction", "push"}});
    text.family("millrace_relay_pulls_total", MetricsText::Type::counter, "Started pulls.").sample(totals.pulls);
    text.family("millrace_relay_connections_total", MetricsText::Type::counter, "Attempts of pulls to connect to an origin.")
        .sample(totals.connections);
    text.family("millrace_relay_failovers_total", MetricsText::Type::counter,
                "Pulls with media that continued on another connection.")
        .sample(totals.failovers);
    text.family("millrace_relay_origin_up", MetricsText::Type::gauge, "1 if the origin answered the newest attempt, otherwise 0.")
        .combine(MetricFamily::Combine::greatest);
    health().for_each([&](const std::string& origin, const OriginHealth::Record& record) {
        text.sample(std::uint64_t{record.is_up ? 1U : 0U}, {{"origin", origin}});
    });
    text.family("millrace_relay_join_seconds", MetricsText::Type::histogram,
                "Seconds from a client's request for a stream to its first media on this server.")
        .histogram(joins.bounds(), joins.counts(), joins.sum());
}

}  // namespace live::service::relay
