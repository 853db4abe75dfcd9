// TokenVerifier: verifies tokens by the keys of an access block: those of its files and of its key sets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "service/tokens/jwt.hpp"
#include "service/tokens/key_sets.hpp"
#include "service/tokens/options.hpp"
#include "service/tokens/token_service.hpp"

namespace live::service::tokens {

class TokenVerifier {
public:
    // Both must outlive this.
    TokenVerifier(const KeyRing& keys, KeySets& key_sets) : keys_(keys), key_sets_(key_sets) {}

    // The URLs of the key sets to refresh before the token is verified: those that are not there, or all if none has its key.
    std::vector<std::string> missing_sets(const TokenOptions& options, std::string_view token) const;
    void refresh(const std::vector<std::string>& urls, io::Deadline deadline) const;
    // Errors as verify_jwt(), and Errc::limit if the token's key may be in a set that has not been read. Does not suspend.
    Result<VerifiedToken> verify(const TokenOptions& options, std::string_view token, UnixSeconds now) const;
    const KeyRing& keys() const { return keys_; }

private:
    const KeyRing& keys_;
    KeySets& key_sets_;
};

}  // namespace live::service::tokens
