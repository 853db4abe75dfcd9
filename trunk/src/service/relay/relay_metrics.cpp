#include "service/relay/relay_service.hpp"

namespace live::service::relay {

// Only its kind of client: the traffic of pulls is not that of clients.
std::optional<session::Protocol> RelayService::protocol() {
    return session::Protocol{.name = "relay", .kinds = {{session::ClientKind::relay_pull, std::nullopt}}};
}

void RelayService::write_metrics(MetricsText& text) const {
    const auto& totals = this->totals();
    const auto& joins = this->joins();
    text.family("millrace_relay_streams", MetricsText::Type::gauge,
                "Streams that this edge has from an origin, or brings to one.")
        .sample(std::uint64_t{list().size()}, {{"direction", "pull"}})
        .sample(std::uint64_t{pushes()}, {{"direction", "push"}});
    text.family("millrace_relay_pulls_total", MetricsText::Type::counter, "Pulls that were begun.").sample(totals.pulls);
    text.family("millrace_relay_connections_total", MetricsText::Type::counter, "Connections to origins that pulls have tried.")
        .sample(totals.connections);
    text.family("millrace_relay_failovers_total", MetricsText::Type::counter,
                "Times that a stream went on with another connection.")
        .sample(totals.failovers);
    text.family("millrace_relay_origin_up", MetricsText::Type::gauge, "Whether an origin answered when it was last tried.");
    health().for_each([&](const std::string& origin, const OriginHealth::Record& record) {
        text.sample(std::uint64_t{record.is_up ? 1U : 0U}, {{"origin", origin}});
    });
    text.family("millrace_relay_join_seconds", MetricsText::Type::histogram,
                "From a client's question for a stream to its first media here.")
        .histogram(joins.bounds(), joins.counts(), joins.sum());
}

}  // namespace live::service::relay
