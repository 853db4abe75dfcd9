// Public keys in the form of JSON Web Keys (RFC 7517, RFC 7518, 6; RFC 8037, 2), as PEM.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::engine::crypto {

// The members of a key, decoded.
struct Jwk {
    std::string_view type;   // kty
    std::string_view curve;  // crv
    std::vector<std::uint8_t> n;
    std::vector<std::uint8_t> e;
    std::vector<std::uint8_t> x;
    std::vector<std::uint8_t> y;
};

// RSA of at most 8192 bits, EC with P-256, OKP with Ed25519. Errc::unsupported for others, Errc::malformed for numbers that are
// no key, such as a point that is not on the curve.
Result<std::string> pem_of(const Jwk& jwk);

}  // namespace live::engine::crypto
