#include "session/gb28181/protocol.hpp"

#include <utility>

#include "session/gb28181/publish_session.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kGb28181Publish{.name = "gb28181-publish", .is_publisher = true, .connects_first = true};

void gb28181::write_metrics(MetricsText& text, const Server& server) {
    const Server::Totals totals = server.totals();
    text.family("millrace_gb28181_sessions", MetricsText::Type::gauge, "GB28181 sessions that the API has opened.")
        .sample(std::uint64_t{server.publishing()}, {{"state", "publishing"}})
        .sample(std::uint64_t{server.sessions() - server.publishing()}, {{"state", "waiting"}});
    text.family("millrace_gb28181_expired_sessions_total", MetricsText::Type::counter,
                "GB28181 sessions that were released because no device sent media in time.")
        .sample(totals.expired);
    text.family("millrace_gb28181_packets_total", MetricsText::Type::counter, "RTP packets of GB28181 devices.")
        .sample(totals.packets);
    text.family("millrace_gb28181_lost_packets_total", MetricsText::Type::counter, "RTP packets over UDP that were missing.")
        .sample(totals.lost);
    text.family("millrace_gb28181_resyncs_total", MetricsText::Type::counter,
                "Losses of synchronisation in program streams of GB28181 devices.")
        .sample(totals.resyncs);
    text.family("millrace_gb28181_strangers_total", MetricsText::Type::counter,
                "Packets and connections with an unknown SSRC, or from another device than the session's.")
        .sample(totals.strangers);
}

Protocol gb28181::describe(const Server& server, std::vector<std::string> listen) {
    return {.name = "gb28181",
            .kinds = {{ClientKind::gb28181_publish, sizeof(PublishSession)}},
            .traffic = [&server] { return server.traffic(); },
            .add_memory =
                [&server](std::vector<MemoryKind>& all) {
                    all.push_back({"gb28181_sessions", server.sessions(), server.held_bytes()});
                },
            .write_metrics = [&server](MetricsText& text) { write_metrics(text, server); },
            .addresses =
                [listen = std::move(listen)] {
                    auto addresses = addresses_of("tcp://", listen);
                    const auto udp = addresses_of("udp://", listen);
                    addresses.insert(addresses.end(), udp.begin(), udp.end());
                    return addresses;
                }};
}

}  // namespace live::session
