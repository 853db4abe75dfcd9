// An absolute http:// or https:// URL, taken apart for who wants to send a request there (RFC 9110, 4.2). Nothing is resolved or
// decoded: path and query go out as they were written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::wire::http {

inline constexpr std::size_t kUrlBytesMax = 4'096;

struct Url {
    bool is_secure = false;  // https
    std::string host;        // a name or an address, without brackets
    std::uint16_t port = 0;
    std::string target;  // path and query; begins with '/'

    // As the Host field has it: the port only when it is not the usual one, brackets around IPv6.
    std::string authority() const;
    // The whole without the query, which may hold a key: for the log.
    std::string label() const;
    bool operator==(const Url&) const = default;
};

// A fragment is dropped. Errc::unsupported for another scheme, Errc::malformed without a host, with user information, with a bad
// port, or with a byte that no URL has (a space, a control character, one above 0x7E), Errc::limit above kUrlBytesMax.
Result<Url> parse_url(std::string_view text);

}  // namespace live::wire::http
