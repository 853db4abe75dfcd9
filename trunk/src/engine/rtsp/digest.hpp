// The response of HTTP Digest authentication (RFC 7616, 3.4.1), which clients make and servers compare.
#pragma once

#include <string>
#include <string_view>

#include "wire/rtsp/authentication.hpp"

namespace live::engine::rtsp {

struct DigestInput {
    wire::rtsp::Challenge::Algorithm algorithm = wire::rtsp::Challenge::Algorithm::md5;
    std::string_view user{};
    std::string_view realm{};
    std::string_view password{};
    std::string_view nonce{};
    std::string_view client_nonce{};
    std::string_view count{};  // with qop=auth; else empty (RFC 2069)
    std::string_view method{};
    std::string_view uri{};
};

// In hexadecimal. The algorithm must be known.
std::string digest_response(const DigestInput& input);

}  // namespace live::engine::rtsp
