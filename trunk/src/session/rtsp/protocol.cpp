#include "session/rtsp/protocol.hpp"

#include <fmt/format.h>

#include "session/rtsp/play_session.hpp"
#include "session/rtsp/publish_session.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kRtspPlay{.name = "rtsp-play", .needs_codecs = true};
constexpr ClientKindRow kinds::kRtspPublish{.name = "rtsp-publish", .is_publisher = true};

namespace {

void add_rtsp_url(std::string_view scheme, std::uint16_t default_port, const std::vector<std::string>& listen,
                  const UrlRequest& request, StreamUrls& urls) {
    const auto port = request.port_for(listen);
    if (listen.empty() || !port)
        return;
    const std::string suffix = *port == default_port ? std::string() : fmt::format(":{}", *port);
    urls.push_back({std::string(scheme), fmt::format("{}://{}{}/{}/{}{}{}", scheme, request.host, suffix, request.app,
                                                     request.stream, request.query.empty() ? "" : "?", request.query)});
}

void write_rtsp_metrics(const rtsp::Counters& counters, MetricsText& text) {
    text.family("millrace_rtsp_connections_total", MetricsText::Type::counter, "RTSP connections.").sample(counters.connections);
    text.family("millrace_rtsp_received_packets_total", MetricsText::Type::counter, "RTP packets of RTSP publishers.")
        .sample(counters.received_packets);
    text.family("millrace_rtsp_lost_packets_total", MetricsText::Type::counter, "Missing RTP packets of RTSP publishers.")
        .sample(counters.lost_packets);
}

}  // namespace

void rtsp::add_urls(const Listening& listening, const RtspVhosts& vhosts, const UrlRequest& request, StreamUrls& urls) {
    constexpr std::uint16_t kPort = 554;
    constexpr std::uint16_t kSecurePort = 322;
    constexpr std::string_view kDefaultVhost = wire::rtmp::kDefaultVhost;
    if (!request.has_frames || !vhosts.find(std::string(request.is_play() ? request.vhost : kDefaultVhost)).ok())
        return;
    add_rtsp_url("rtsp", kPort, listening.plain, request, urls);
    add_rtsp_url("rtsps", kSecurePort, listening.secure, request, urls);
}

Protocol rtsp::describe(const Context& context, SelfTester& self_test, Listening listening) {
    return {.name = "rtsp",
            .kinds = {{ClientKind::rtsp_play, sizeof(PlaySession)}, {ClientKind::rtsp_publish, sizeof(PublishSession)}},
            .traffic = [&context] { return context.traffic; },
            .write_metrics =
                [&context, listens = listening.any()](MetricsText& text) {
                    if (listens)
                        write_rtsp_metrics(context.counters, text);
                },
            .addresses =
                [listening] {
                    auto addresses = addresses_of("rtsp://", listening.plain);
                    const auto secure = addresses_of("rtsps://", listening.secure);
                    addresses.insert(addresses.end(), secure.begin(), secure.end());
                    return addresses;
                },
            .add_urls = [&context, listening](const UrlRequest& request,
                                              StreamUrls& urls) { add_urls(listening, context.vhosts, request, urls); },
            .self_test = [&self_test](const std::string&, io::Deadline deadline) { return self_test.run(deadline); }};
}

}  // namespace live::session
