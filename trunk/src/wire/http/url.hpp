// An absolute http:// or https:// URL, split for sending a request (RFC 9110, 4.2). Nothing is resolved or decoded: path and
// query are sent as written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::wire::http {

inline constexpr std::size_t kUrlBytesMax = 4'096;

struct Url {
    bool is_secure = false;  // https
    std::string host;        // a name or an address without brackets
    std::uint16_t port = 0;
    std::string target;  // path and query; begins with '/'

    // The value of the Host field: the port only if not the default, and brackets around IPv6.
    std::string authority() const;
    // The URL without the query, which may contain a key: for logs.
    std::string label() const;
    bool operator==(const Url&) const = default;
};

// A fragment is dropped. Errc::unsupported for another scheme, Errc::malformed without a host, with user info, with an invalid
// port, or with a byte not allowed in URLs (a space, a control character, one above 0x7E), Errc::limit above kUrlBytesMax.
Result<Url> parse_url(std::string_view text);

}  // namespace live::wire::http
