// The rows of session/rtsp/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "base/time.hpp"
#include "session/rtsp/options.hpp"

namespace live::session::rtsp {

inline constexpr auto kRtspServerRows = config::Rows{
    config::row(&RtspServerOptions::enabled, "enabled", config::Reload::restart, "RTSP server."),
    config::endpoints(&RtspServerOptions::listen, "listen", config::Reload::restart, "Its endpoints."),
    config::row(&RtspServerOptions::rtp_port_min, "rtp_port_min", 0, 65'535, config::Reload::restart,
                "Ours: the first UDP port for media; each process takes two free ones. 0: media over the connection only."),
    config::row(&RtspServerOptions::rtp_port_max, "rtp_port_max", 0, 65'535, config::Reload::restart,
                "Ours: the last UDP port for media."),
};

inline constexpr auto kRtspRows = config::Rows{
    config::row(&RtspOptions::enabled, "enabled", config::Reload::next_session, "RTSP on this virtual host."),
    config::row(&RtspOptions::rtmp_to_rtsp, "rtmp_to_rtsp", config::Reload::next_session,
                "Streams of all protocols can be played over RTSP; off: those of RTSP publishers."),
    config::row(&RtspOptions::publisher_wait, "publisher_wait", 0ms, 600'000ms, config::Reload::next_session,
                "Ours: how long a player waits for a publisher; then the answer is 404."),
};

}  // namespace live::session::rtsp
