#include "session/rtmp/protocol.hpp"

#include <utility>

#include <fmt/format.h>

#include "session/rtmp/play_session.hpp"
#include "session/rtmp/publish_session.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kRtmpPlay{
    .name = "rtmp-play", .reach = Reach::rtmp, .connects_first = true, .has_connect_call = true};
constexpr ClientKindRow kinds::kFmlePublish{
    .name = "fmle-publish", .is_publisher = true, .drained_to = Reach::rtmp, .connects_first = true, .has_connect_call = true};
constexpr ClientKindRow kinds::kFlashPublish{
    .name = "flash-publish", .is_publisher = true, .drained_to = Reach::rtmp, .connects_first = true, .has_connect_call = true};
constexpr ClientKindRow kinds::kHaivisionPublish{.name = "haivision-publish",
                                                 .is_publisher = true,
                                                 .drained_to = Reach::rtmp,
                                                 .connects_first = true,
                                                 .has_connect_call = true};

namespace {

void add_rtmp_url(std::string_view scheme, const std::vector<std::string>& listen, std::uint16_t default_port,
                  const UrlRequest& request, StreamUrls& urls) {
    const auto port = request.port_for(listen);
    if (!port)
        return;
    const std::string suffix = *port == default_port ? std::string() : fmt::format(":{}", *port);
    urls.push_back({std::string(scheme), fmt::format("{}://{}{}/{}/{}{}{}", scheme, request.host, suffix, request.app,
                                                     request.stream, request.query.empty() ? "" : "?", request.query)});
}

}  // namespace

// RTMP clients use a URL as written, without escapes.
void rtmp::add_urls(const Listening& listening, const UrlRequest& request, StreamUrls& urls) {
    constexpr std::uint16_t kPort = 1935;
    constexpr std::uint16_t kSecurePort = 443;
    if (!request.has_frames)
        return;
    add_rtmp_url("rtmp", listening.plain, kPort, request, urls);
    add_rtmp_url("rtmps", listening.secure, kSecurePort, request, urls);
}

Protocol rtmp::describe(const Traffic& traffic, std::function<Listening()> listening) {
    return {.name = "rtmp",
            .kinds = {{ClientKind::rtmp_play, sizeof(PlaySession)},
                      {ClientKind::fmle_publish, sizeof(PublishSession)},
                      {ClientKind::flash_publish, sizeof(PublishSession)},
                      {ClientKind::haivision_publish, sizeof(PublishSession)}},
            .traffic = [&traffic] { return traffic; },
            .add_urls = [listening = std::move(listening)](const UrlRequest& request,
                                                           StreamUrls& urls) { add_urls(listening(), request, urls); }};
}

}  // namespace live::session
