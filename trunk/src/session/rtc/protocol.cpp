#include "session/rtc/protocol.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "media/rtp/rtp_layers.hpp"
#include "session/rtc/play_session.hpp"
#include "session/rtc/publish_session.hpp"
#include "wire/http/target.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kRtcPlay{
    .name = "rtc-play", .reach = Reach::api, .redirected_protocol = "whep", .is_ended_by_drain = true, .needs_codecs = true};
constexpr ClientKindRow kinds::kRtcPublish{.name = "rtc-publish",
                                           .is_publisher = true,
                                           .reach = Reach::api,
                                           .redirected_protocol = "whip",
                                           .is_ended_by_drain = true,
                                           .sends_rtp = true};

namespace {

void write_rtcp(MetricsText& text, const rtc::PortReading& rtc) {
    using engine::webrtc::RtcpCounts;
    constexpr std::pair<const char*, std::uint64_t RtcpCounts::*> kNames[] = {{"key_request", &RtcpCounts::key_requests},
                                                                              {"transport_wide", &RtcpCounts::arrival_reports},
                                                                              {"receiver_report", &RtcpCounts::receiver_reports}};
    text.family("millrace_rtc_rtcp_total", MetricsText::Type::counter, "RTCP packets of WebRTC, by what they say.");
    for (const auto& [name, count] : kNames)
        text.sample(rtc.shared.in.*count, {{"direction", "in"}, {"kind", name}})
            .sample(rtc.shared.out.*count, {{"direction", "out"}, {"kind", name}});
    text.family("millrace_rtc_nacked_packets_total", MetricsText::Type::counter,
                "RTP packets that players asked us for again (in), and we publishers (out).")
        .sample(rtc.shared.in.nacked, {{"direction", "in"}})
        .sample(rtc.shared.out.nacked, {{"direction", "out"}});
    text.family("millrace_rtc_resent_packets_total", MetricsText::Type::counter,
                "Of those that players asked for, the ones that were sent again.")
        .sample(rtc.shared.resent);
}

void write_layers(MetricsText& text, const engine::webrtc::SharedState& shared) {
    using engine::rtp::LayerSelector;
    constexpr std::array<const char*, LayerSelector::kReasons> kReasons = {"start", "estimate", "blocked", "rise", "lost"};
    text.family(
        "millrace_rtc_layer_changes_total", MetricsText::Type::counter,
        "Changes of the layer of a WebRTC player: its first one, down because the estimate of its link fell or frames waited, "
        "up, and away from a layer that ended.");
    for (std::size_t i = 0; i < kReasons.size(); ++i)
        text.sample(shared.layer_changes[i], {{"reason", kReasons[i]}});
    text.family("millrace_rtc_padding_bytes_total", MetricsText::Type::counter,
                "Bytes sent to WebRTC players only to measure whether their links carry a better layer.")
        .sample(shared.padded_bytes);
}

// Memory of the engine for sessions of any kind. OpenSSL's part is in tls_sessions; the SRTP library's is not counted.
void add_rtc_memory(std::vector<MemoryKind>& all, const rtc::Port& port, const media::StreamTable& streams) {
    const rtc::PortMemory memory = port.memory();
    std::size_t rtp_logs = 0;
    std::size_t rtp_log_bytes = 0;
    streams.for_each([&](const media::Source& source) {
        source.rtp_logs().for_each([&](const media::RtpLog& rtp_log) {
            ++rtp_logs;
            rtp_log_bytes += sizeof rtp_log + rtp_log.held_bytes();
            if (const media::RtpLayers* const layers = rtp_log.layers()) {
                rtp_logs += layers->size();
                rtp_log_bytes += layers->held_bytes();
            }
        });
    });
    all.insert(all.end(), {{"rtp_logs", rtp_logs, rtp_log_bytes},
                           {"rtc_engines", port.sessions(), memory.engine_bytes},
                           {"rtc_dtls", memory.dtls_objects, std::nullopt},
                           {"rtc_paths", memory.paths, memory.path_bytes},
                           {"rtc_output", 1, memory.buffer_bytes}});
}

std::vector<std::string> rtc_addresses(const rtc::RtcServerOptions& options) {
    if (!options.enabled)
        return {};
    auto all = addresses_of("udp://", options.listen);
    if (options.tcp.enabled)
        for (std::string& address : addresses_of("tcp://", options.tcp.listen))
            all.push_back(std::move(address));
    return all;
}

}  // namespace

void rtc::write_metrics(MetricsText& text, const PortReading& rtc, std::size_t half_open, int load_level) {
    const PortFigures& port = rtc.port;
    text.family("millrace_rtc_sessions", MetricsText::Type::gauge, "WebRTC sessions; half open until their client has connected.")
        .sample(std::uint64_t{rtc.sessions - half_open}, {{"state", "open"}})
        .sample(std::uint64_t{half_open}, {{"state", "half_open"}});
    text.family("millrace_rtc_received_datagrams_total", MetricsText::Type::counter,
                "Datagrams of WebRTC that came, by what they are.");
    const std::uint64_t known = port.stun + port.dtls + port.rtp + port.rtcp;
    for (const auto& [name, count] : {std::pair("stun", port.stun), std::pair("dtls", port.dtls), std::pair("rtp", port.rtp),
                                      std::pair("rtcp", port.rtcp), std::pair("other", port.received - known)})
        text.sample(count, {{"kind", name}});
    text.family("millrace_rtc_strangers_total", MetricsText::Type::counter,
                "Of these, for no session, or from an address that no check has proved to be a session's.")
        .sample(port.strangers);
    text.family("millrace_rtc_sent_datagrams_total", MetricsText::Type::counter, "Datagrams of WebRTC that were sent.")
        .sample(port.sent);
    text.family("millrace_rtc_lost_datagrams_total", MetricsText::Type::counter,
                "Those that the kernel dropped before we read them, or did not take.")
        .sample(rtc.lost, {{"direction", "in"}})
        .sample(rtc.unsent, {{"direction", "out"}});
    write_rtcp(text, rtc);
    write_layers(text, rtc.shared);
    text.family("millrace_rtc_circuit_breaker_level", MetricsText::Type::gauge,
                "What is left out because the processor is busy: 1 NACK, 2 transport-wide feedback too, 3 players too.")
        .combine(MetricFamily::Combine::greatest)
        .sample(static_cast<std::uint64_t>(load_level));
}

void rtc::add_urls(const RtcVhosts& vhosts, const UrlRequest& request, StreamUrls& urls) {
    if (!request.has_rtp || !vhosts.server().enabled || !vhosts.find(std::string(request.vhost)).ok())
        return;
    const std::string_view format = request.is_play() ? "whep" : "whip";
    urls.push_back(
        {std::string(format),
         fmt::format("{}/rtc/v1/{}/?app={}&stream={}{}{}", request.http_origin(), format, wire::http::percent_encode(request.app),
                     wire::http::percent_encode(request.stream), request.query.empty() ? "" : "&", request.query)});
}

Protocol rtc::describe(Port& port, const CircuitBreaker& breaker, const RtcVhosts& settings, const media::StreamTable& streams,
                       decltype(Protocol::self_test) self_test) {
    return {.name = "rtc",
            .kinds = {{ClientKind::rtc_play, sizeof(PlaySession)}, {ClientKind::rtc_publish, sizeof(PublishSession)}},
            .traffic = [&port] { return Traffic{port.figures().received_bytes, port.figures().sent_bytes}; },
            .add_memory = [&port, &streams](std::vector<MemoryKind>& all) { add_rtc_memory(all, port, streams); },
            .write_metrics =
                [&port, &breaker](MetricsText& text) { write_metrics(text, port.read(), port.half_open(), breaker.level()); },
            .addresses = [&settings] { return rtc_addresses(settings.server()); },
            .add_urls = [&settings](const UrlRequest& request, StreamUrls& urls) { add_urls(settings, request, urls); },
            .datagrams = ForwardedDatagram::Protocol::webrtc,
            .take_datagram = [&port](const ForwardedDatagram& forwarded,
                                     MutBytes datagram) { port.take_forwarded(forwarded, io::now(), datagram); },
            .self_test = std::move(self_test)};
}

}  // namespace live::session
