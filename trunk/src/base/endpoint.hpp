// An address and a port to listen on or to connect to, as text that has been checked. Resolving names is io's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live {

struct Endpoint {
    // An IPv4 or IPv6 address without brackets.
    std::string ip;
    std::uint16_t port = 0;

    bool is_ipv6() const { return ip.find(':') != std::string::npos; }
    // Only this machine reaches it.
    bool is_loopback() const { return ip.starts_with("127.") || ip == "::1"; }
    // "127.0.0.1:1935" or "[::1]:1935".
    std::string text() const;
    bool operator==(const Endpoint&) const = default;
};

// Reads "1935", "127.0.0.1:1935" or "[::1]:1935". Only a port means every address: 0.0.0.0 and ::, two endpoints; else one.
// Errc::malformed when the port is not 1..65535 or the address is none.
Result<std::vector<Endpoint>> parse_endpoint(std::string_view text);

}  // namespace live
