#include "session/http_live/protocol.hpp"

#include <utility>

#include "session/http_live/play_session.hpp"

namespace live::session {

constexpr ClientKindRow kinds::kFlvPlay{.name = "flv-play", .reach = Reach::http};
constexpr ClientKindRow kinds::kHlsPlay{.name = "hls-play", .reach = Reach::http, .is_polling = true};

Protocol http_live::describe(std::function<Traffic()> traffic, std::size_t viewer_bytes) {
    return {.name = "http",
            .kinds = {{ClientKind::flv_play, sizeof(PlaySession)}, {ClientKind::hls_play, viewer_bytes}},
            .traffic = std::move(traffic)};
}

}  // namespace live::session
