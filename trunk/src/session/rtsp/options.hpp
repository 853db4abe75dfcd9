// Options for RTSP: the server's ports (rtsp_server {}) and the behaviour of one virtual host (vhost rtsp {}). The rows are in
// option_rows.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace live::session::rtsp {

struct RtspServerOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"554"};
    // Ours. Each process takes the first two that are free.
    std::uint16_t rtp_port_min = 6970;
    std::uint16_t rtp_port_max = 6999;
};

struct RtspOptions {
    bool enabled = false;
    bool rtmp_to_rtsp = true;
    // Ours.
    std::chrono::milliseconds publisher_wait{5'000};
};

}  // namespace live::session::rtsp
