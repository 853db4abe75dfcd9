// The response of HTTP Digest authentication (RFC 7616, 3.4.1), which clients make and servers compare.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "wire/rtsp/authentication.hpp"

namespace live::engine::rtsp {

struct DigestInput {
    wire::rtsp::Challenge::Algorithm algorithm = wire::rtsp::Challenge::Algorithm::md5;
    std::string_view user{};
    std::string_view realm{};
    std::string_view password{};
    // H(user:realm:password) in hexadecimal, by that algorithm, instead of the password.
    std::string_view hashed{};
    std::string_view nonce{};
    std::string_view client_nonce{};
    std::string_view count{};  // with qop=auth; else empty (RFC 2069)
    std::string_view method{};
    std::string_view uri{};
};

// A server's form of a password: the password itself, or, if that is empty, its hashes as DigestInput::hashed.
struct DigestSecret {
    std::string_view password{};
    std::string_view md5{};
    std::string_view sha256{};
};

bool uses_sha256(wire::rtsp::Challenge::Algorithm algorithm);

// In hexadecimal. Errc::unsupported for an unknown algorithm, and for one that the system's OpenSSL refuses.
Result<std::string> digest_response(const DigestInput& input);

}  // namespace live::engine::rtsp
