// MPEG-DASH settings of one virtual host: plain values with defaults.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "base/time.hpp"

namespace live::service::dash {

struct DashOptions {
    bool enabled = false;
    std::chrono::milliseconds fragment = 10s;
    std::chrono::milliseconds update_period = 5s;
    std::chrono::milliseconds timeshift = 300s;
    std::string path = "./objs/nginx/html";
    // Ours: "s3", or a URL that takes PUT and DELETE.
    std::string push;
    std::string mpd_file = "[app]/[stream].mpd";
    std::uint32_t window_size = 5;
    std::uint64_t window_bytes = 256 << 20;  // specific to this server
    bool cleanup = true;
    std::chrono::milliseconds dispose = 120s;
    // Specific to this server: low latency.
    bool ll = false;
    std::chrono::milliseconds part = 200ms;
};

// Returns how long a player without requests counts as watching.
inline Duration idle_limit_of(const DashOptions& options) {
    return 2 * std::max<Duration>(std::max(options.update_period, options.fragment), 1s);
}

}  // namespace live::service::dash
