// The rows of session/limits/limit_options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "session/limits/limit_options.hpp"

namespace live::session {

inline constexpr auto kLimitRows = config::Rows{
    config::row(&LimitOptions::connections_per_ip, "connections_per_ip", 1, 1'000'000, config::Reload::live,
                "Connections and WebRTC sessions of one address; an IPv6 address is its network of 64 bits. Never more than a "
                "half of max_connections."),
    config::row(&LimitOptions::new_connections_per_ip, "new_connections_per_ip", 1, 100'000, config::Reload::live,
                "New connections per second from one address; bursts of ten seconds' worth are allowed."),
    config::row(&LimitOptions::rtc_half_open, "rtc_half_open", 1, 50'000, config::Reload::live,
                "WebRTC sessions whose clients have not connected yet. They do not count against max_connections."),
    config::row(&LimitOptions::rtc_half_open_per_ip, "rtc_half_open_per_ip", 1, 50'000, config::Reload::live,
                "The same for one address."),
    config::row(&LimitOptions::rtc_offers_per_ip, "rtc_offers_per_ip", 1, 10'000, config::Reload::live,
                "WebRTC offers per second from one address; bursts of ten seconds' worth are allowed."),
    config::row(&LimitOptions::hls_sessions_per_ip, "hls_sessions_per_ip", 1, 100'000, config::Reload::live,
                "HLS and DASH players at one address."),
    config::row(
        &LimitOptions::memory_budget, "memory_budget", 0, 1'000'000, config::Reload::live,
        "MiB of memory that clients may make the process take: beyond it, the clients or streams that take most of it are "
        "closed (streams, the windows of HLS and DASH, unfinished input). 0: half of the memory of the machine or container."),
    config::row(&LimitOptions::trusted, "trusted", config::Reload::live,
                "Addresses and networks without these limits, such as a proxy's. Loopback never has them.")
        .example("10.0.0.0/8"),
    config::row(
        &LimitOptions::proxy_protocol, "proxy_protocol", config::Reload::live,
        "Ours: each TCP connection from a trusted address begins with a header of the PROXY protocol, version 1 or 2, with "
        "the address of its client."),
};

}  // namespace live::session
