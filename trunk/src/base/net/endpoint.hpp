// An address and port to listen on or connect to, as validated text. Name resolution is done in io.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live {

struct Endpoint {
    // IPv4 or IPv6 address without brackets.
    std::string ip;
    std::uint16_t port = 0;

    bool is_ipv6() const { return ip.find(':') != std::string::npos; }
    // Reachable from this host only.
    bool is_loopback() const { return ip.starts_with("127.") || ip == "::1"; }
    // "127.0.0.1:1935" or "[::1]:1935".
    std::string text() const;
    bool operator==(const Endpoint&) const = default;
};

// Errc::malformed when it is not a number in 1..65535.
Result<std::uint16_t> parse_port(std::string_view text);

// Parses "1935", "127.0.0.1:1935" or "[::1]:1935". A port alone means all addresses and gives two endpoints, 0.0.0.0 and ::;
// otherwise one. Errc::malformed when the port is not in 1..65535 or the address is invalid.
Result<std::vector<Endpoint>> parse_endpoint(std::string_view text);

}  // namespace live
