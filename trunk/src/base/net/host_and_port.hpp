// A host, as an address or a name, with or without a port: as operators and clients write it. Resolves nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live {

struct HostAndPort {
    std::string host;  // IPv6 without brackets
    std::optional<std::uint16_t> port;

    bool operator==(const HostAndPort&) const = default;
};

// "203.0.113.1", "203.0.113.1:9000", "2001:db8::1", "[2001:db8::1]:9000", "media.example.com:9000". The result is safe to use in
// SDP and in URLs. Errc::malformed when it is neither an address nor a name of letters, digits, '-' and '.', or the port is not
// 1..65535.
Result<HostAndPort> parse_host(std::string_view text);

}  // namespace live
