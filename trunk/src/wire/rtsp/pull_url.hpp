// The URL of a camera or another RTSP server: rtsp://[USER[:PASSWORD]@]HOST[:PORT]/PATH[?QUERY], or rtsps:// for TLS. Nothing is
// resolved; path and query are sent as written, user and password are not part of the URL that is sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::wire::rtsp {

struct PullUrl {
    std::string host;  // a name, or an address without brackets
    std::uint16_t port = 0;
    bool is_secure = false;  // rtsps://
    std::string user;        // decoded
    std::string password;
    std::string url;  // without user and password

    // The URL without its query, which may contain a key: for logs.
    std::string label() const { return url.substr(0, url.find('?')); }
    bool operator==(const PullUrl&) const = default;
};

// Errc::unsupported for another scheme; Errc::malformed without a host, with an invalid port, or with a byte that
// is not allowed in URLs; Errc::limit above kUrlBytesMax.
Result<PullUrl> parse_pull_url(std::string_view text);

}  // namespace live::wire::rtsp
