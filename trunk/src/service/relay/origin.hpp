// Origin: one entry of `cluster { origin ...; }`, parsed. Pure; names are resolved by the resolver.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::service::relay {

struct Origin {
    std::string host;  // a name or an address, without brackets
    std::uint16_t port = 0;
    bool is_secure = false;    // rtmps
    bool is_resolved = false;  // dns: stands for all addresses of the name

    // "rtmp://host:port" or "rtmps://host:port": used in logs and the API, and as the key of its health record.
    std::string text() const;
    bool operator==(const Origin&) const = default;
};

// host[:port], rtmp://host[:port], rtmps://host[:port], dns:name[:port]. IPv6 addresses are in brackets. Default ports are 1935
// and, for rtmps, 443. Errc::malformed.
Result<Origin> parse_origin(std::string_view text);

}  // namespace live::service::relay
