#include "session/srt/protocol.hpp"

#include <utility>

#include <fmt/format.h>

#include "session/srt/play_session.hpp"
#include "session/srt/publish_session.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kSrtPlay{.name = "srt-play", .connects_first = true};
constexpr ClientKindRow kinds::kSrtPublish{.name = "srt-publish", .is_publisher = true, .connects_first = true};

namespace {

void write_srt_packets(MetricsText& text, std::string_view name, std::string_view help, std::uint64_t in, std::uint64_t out) {
    text.family(name, MetricsText::Type::counter, help).sample(in, {{"direction", "in"}}).sample(out, {{"direction", "out"}});
}

void add_srt_memory(std::vector<MemoryKind>& all, const srt::Port& port, const srt::Players& players) {
    const srt::PortMemory memory = port.memory();
    all.insert(all.end(), {{"srt_connections", port.links(), memory.connection_bytes},
                           {"srt_units", players.groups(), players.held_bytes()},
                           {"srt_output", 1, memory.buffer_bytes}});
}

}  // namespace

void srt::write_metrics(MetricsText& text, const PortReading& srt) {
    text.family("millrace_srt_connections", MetricsText::Type::gauge, "SRT connections, and clients that wait for admission.")
        .sample(std::uint64_t{srt.publishers}, {{"kind", "publish"}})
        .sample(std::uint64_t{srt.players}, {{"kind", "play"}})
        .sample(std::uint64_t{srt.opening}, {{"kind", "opening"}});
    text.family("millrace_srt_handshakes_total", MetricsText::Type::counter, "SRT clients by the outcome of their handshake.")
        .sample(srt.port.accepted, {{"outcome", "accepted"}})
        .sample(srt.port.refused, {{"outcome", "refused"}});
    text.family("millrace_srt_calls_total", MetricsText::Type::counter, "SRT connections that this server has made, as a caller.")
        .sample(srt.port.called);
    write_srt_packets(text, "millrace_srt_packets_total", "Packets of media, each counted once.", srt.links.received,
                      srt.links.sent);
    write_srt_packets(text, "millrace_srt_lost_packets_total",
                      "Of these, those that were missed, whether or not they came later.", srt.links.receive_lost,
                      srt.links.send_lost);
    write_srt_packets(text, "millrace_srt_retransmitted_packets_total", "Packets of media that were sent again.",
                      srt.links.receive_retransmitted, srt.links.retransmitted);
    write_srt_packets(text, "millrace_srt_dropped_packets_total", "Packets of media that were lost for good: too late.",
                      srt.links.receive_dropped, srt.links.send_dropped);
    text.family("millrace_srt_undecrypted_packets_total", MetricsText::Type::counter, "Packets of media that no key opened.")
        .sample(srt.links.undecrypted);
    text.family("millrace_srt_strangers_total", MetricsText::Type::counter,
                "Datagrams for no SRT connection, or not from its address.")
        .sample(srt.port.strangers);
    write_srt_packets(text, "millrace_srt_datagrams_total", "Datagrams of SRT, of any kind.", srt.port.received, srt.port.sent);
    write_srt_packets(text, "millrace_srt_lost_datagrams_total",
                      "Those that the kernel dropped before we read them, or did not take.", srt.lost, srt.unsent);
}

// The URL has the form of SRT's access control, with everything in the stream id: a client states no host.
void srt::add_urls(const SrtServerOptions& server, const SrtVhosts& vhosts, const UrlRequest& request, StreamUrls& urls) {
    // Separators of a stream id and of a query. Escapes do not help: some clients decode them, others send them as they are.
    constexpr std::string_view kSeparators = ",=&#?%+ ";
    constexpr std::string_view kDefaultVhost = wire::rtmp::kDefaultVhost;
    const std::string vhost(request.is_play() ? request.vhost : kDefaultVhost);
    const auto port = request.port_for(server.listen);
    const std::string resource = fmt::format("{}/{}", request.app, request.stream);
    if (!request.has_frames || !server.enabled || !port || resource.find_first_of(kSeparators) != std::string::npos ||
        !vhosts.find(vhost).ok())
        return;
    const std::string where = vhost == kDefaultVhost ? "" : fmt::format("h={},", vhost);
    urls.push_back({"srt", fmt::format("srt://{}:{}?streamid=#!::{}r={},m={}", request.host, *port, where, resource,
                                       request.is_play() ? "request" : "publish")});
}

Protocol srt::describe(Port& port, const Players& players, const HalfOpen& half_open, SelfTester& self_test,
                       const SrtVhosts& vhosts, std::function<bool()> is_running, std::function<SrtServerOptions()> listening) {
    return {.name = "srt",
            .kinds = {{ClientKind::srt_play, sizeof(PlaySession)}, {ClientKind::srt_publish, sizeof(PublishSession)}},
            .refusals = half_open.refusals(),
            .traffic = [&port] { return Traffic{port.figures().received_bytes, port.figures().sent_bytes}; },
            .add_memory = [&port, &players](std::vector<MemoryKind>& all) { add_srt_memory(all, port, players); },
            .write_metrics =
                [&port, running = std::move(is_running)](MetricsText& text) {
                    if (running())
                        write_metrics(text, port.read());
                },
            .addresses =
                [listening] {
                    const SrtServerOptions options = listening();
                    return options.enabled ? addresses_of("udp://", options.listen) : std::vector<std::string>();
                },
            .add_urls = [listening, &vhosts](const UrlRequest& request,
                                             StreamUrls& urls) { add_urls(listening(), vhosts, request, urls); },
            .datagrams = ForwardedDatagram::Protocol::srt,
            .take_datagram = [&port](const ForwardedDatagram& forwarded,
                                     MutBytes datagram) { port.take_forwarded(forwarded, io::now(), datagram); },
            .self_test = [&self_test](const std::string&, io::Deadline deadline) { return self_test.run(deadline); }};
}

}  // namespace live::session
