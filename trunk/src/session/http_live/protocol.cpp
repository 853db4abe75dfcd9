#include "session/http_live/protocol.hpp"

#include <utility>

#include "session/http_live/mount.hpp"
#include "session/http_live/play_session.hpp"
#include "wire/http/target.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kFlvPlay{.name = "flv-play", .reach = Reach::http, .redirected_protocol = "http"};
constexpr ClientKindRow kinds::kHlsPlay{
    .name = "hls-play", .reach = Reach::http, .redirected_protocol = "http", .is_polling = true, .names_file = true};

void http_live::add_urls(const RemuxOptions& options, const UrlRequest& request, StreamUrls& urls) {
    const auto mount = Mount::parse(options.mount);
    if (!request.has_frames || !request.is_play() || !options.enabled || !mount.ok())
        return;
    const auto path = mount->path_of(request.app, request.stream);
    if (!path)
        return;
    const std::string rest =
        wire::http::percent_encode_path(*path) + (request.query.empty() ? "" : "?") + std::string(request.query);
    const std::string format = options.mount.substr(options.mount.rfind('.') + 1);
    urls.push_back({format, request.http_origin() + rest});
    if (!mount->format().audio)
        urls.push_back({"ws-" + format, request.websocket_origin() + rest});
}

Protocol http_live::describe(std::function<Traffic()> traffic, std::size_t viewer_bytes, const OptionsOf<RemuxOptions>& vhosts) {
    return {.name = "http",
            .kinds = {{ClientKind::flv_play, sizeof(PlaySession)}, {ClientKind::hls_play, viewer_bytes}},
            .traffic = std::move(traffic),
            .add_urls = [&vhosts](const UrlRequest& request, StreamUrls& urls) {
                if (const RemuxOptions* options = vhosts.find(std::string(request.vhost)))
                    add_urls(*options, request, urls);
            }};
}

}  // namespace live::session
