// JSON Web Key Sets (RFC 7517): the public keys of a service that issues tokens. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/crypto/signing_key.hpp"

namespace live::service::tokens {

inline constexpr std::size_t kJwkSetBytesMax = 256 * 1024;
inline constexpr std::size_t kJwkSetKeysMax = 64;

// The keys that this server can use, with their `kid`: not secrets, not keys for encryption, for other algorithms, or of kinds
// that are not supported. Errc::malformed with a sentence for the operator if no key is left; Errc::limit for a large set.
Result<std::vector<engine::crypto::SigningKey>> parse_jwk_set(std::string_view text);

}  // namespace live::service::tokens
