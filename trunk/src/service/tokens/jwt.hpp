// JSON Web Tokens (RFC 7519) with a signature (RFC 7515, compact form). Dry: the time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/crypto/signing_key.hpp"
#include "service/tokens/rights.hpp"

namespace live::service::tokens {

using UnixSeconds = std::chrono::sys_seconds;

// A longer token is refused before it is parsed.
inline constexpr std::size_t kTokenBytesMax = 8 * 1024;
// The limit of the rights in one token.
inline constexpr std::size_t kRightsMax = 256;
// The accepted advance of the clock of the issuer. A token expires at its time: a session of it ends then.
inline constexpr std::chrono::seconds kClockSkew{60};
// The claim with the rights unless the conf names another: an array of {"action": ACTION, "path": PATTERN}, or that array as
// text.
inline constexpr std::string_view kRightsClaim = "mediamtx_permissions";

struct JwtRules {
    std::string_view rights_claim = kRightsClaim;
    // Required values of iss and aud; empty: not checked.
    std::string_view issuer{};
    std::string_view audience{};
};

struct VerifiedToken {
    std::string subject;  // for the log; may be empty
    std::vector<Right> rights;
    std::optional<UnixSeconds> expires;
};

// The payload of a signed text (RFC 7515, compact form), still encoded. Errc::denied.
Result<std::string_view> verify_jws(std::string_view token, std::span<const engine::crypto::SigningKey> keys);

// Checks the signature by the keys of the token's algorithm, then exp, nbf, iss and aud. Errc::denied with a sentence for the
// client; it contains nothing of the token.
Result<VerifiedToken> verify_jwt(std::string_view token, std::span<const engine::crypto::SigningKey> keys, const JwtRules& rules,
                                 UnixSeconds now);

// The ID of the key that has signed the token, which is not verified; empty without one.
std::string key_id_of(std::string_view token);

struct TokenRequest {
    std::vector<Right> rights;
    std::string_view rights_claim = kRightsClaim;
    std::string_view issuer{};
    std::string_view audience{};
    std::string_view subject{};
    std::optional<UnixSeconds> expires{};
    UnixSeconds now{};
};

// Errors as SigningKey::sign().
Result<std::string> make_jwt(const TokenRequest& request, const engine::crypto::SigningKey& key);

}  // namespace live::service::tokens
