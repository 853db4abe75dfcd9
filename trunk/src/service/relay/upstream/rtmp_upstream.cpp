#include "service/relay/upstream/rtmp_upstream.hpp"

#include <fmt/format.h>

namespace live::service::relay {

namespace rtmp = engine::rtmp;

// Skips events that do not matter to a pull.
std::optional<UpstreamEvent> RtmpUpstream::poll_event() {
    while (auto event = client_.poll_event()) {
        is_connected_ = is_connected_ || std::holds_alternative<rtmp::Connected>(*event);
        if (auto* media = std::get_if<rtmp::GotMedia>(&*event))
            return std::move(*media);
        if (auto* warning = std::get_if<rtmp::PeerWarning>(&*event))
            return std::move(*warning);
        if (auto* ended = std::get_if<rtmp::StreamEnded>(&*event))
            return Ended{"the origin says " + ended->code, false};
        // The next connection begins with the newest GOP, so no frame is lost between the two.
        if (auto* asked = std::get_if<rtmp::ReconnectRequested>(&*event)) {
            if (!asked->tc_url.empty())
                return Redirected{std::move(asked->tc_url)};
            return Ended{"the origin asks for a new connection: " + asked->description, true};
        }
        if (auto* rejected = std::get_if<rtmp::Rejected>(&*event)) {
            if (rejected->redirect_url)
                return Redirected{*std::move(rejected->redirect_url)};
            return Refused{fmt::format("the origin says {}: {}", rejected->code, rejected->description)};
        }
    }
    return std::nullopt;
}

}  // namespace live::service::relay
