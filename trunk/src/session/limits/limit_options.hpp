// limits {}: the bounds of one address, and of all unproven clients together. The rows are in limit_option_rows.hpp. SRT has its
// own: session/srt/options.hpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace live::session {

// The defaults allow some hundred viewers behind one router.
struct LimitOptions {
    std::uint32_t connections_per_ip = 1000;
    std::uint32_t new_connections_per_ip = 100;
    std::uint32_t rtc_half_open = 2000;
    std::uint32_t rtc_half_open_per_ip = 200;
    std::uint32_t rtc_offers_per_ip = 50;
    std::uint32_t hls_sessions_per_ip = 2000;
    std::uint32_t memory_budget = 0;  // MiB; 0: half of the available memory
    // Addresses and networks, checked with IpNetwork::parse().
    std::vector<std::string> trusted{};
    // The connections of these begin with a PROXY header.
    bool proxy_protocol = false;
};

}  // namespace live::session
