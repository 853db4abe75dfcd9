#include "service/tokens/token_verifier.hpp"

#include <algorithm>

namespace live::service::tokens {

using engine::crypto::SigningKey;

std::vector<std::string> TokenVerifier::missing_sets(const TokenOptions& options, std::string_view token) const {
    std::vector<std::string> missing;
    if (options.jwks.empty())
        return missing;
    const std::string id = key_id_of(token);
    for (const std::string& url : options.jwks) {
        const auto* set = key_sets_.find(url);
        if (set != nullptr && id.empty())
            continue;
        if (set != nullptr && std::ranges::any_of(*set, [&](const SigningKey& key) { return key.id() == id; }))
            return {};
        missing.push_back(url);
    }
    return missing;
}

void TokenVerifier::refresh(const std::vector<std::string>& urls, io::Deadline deadline) const {
    for (const std::string& url : urls)
        key_sets_.refresh(url, deadline);
}

Result<VerifiedToken> TokenVerifier::verify(const TokenOptions& options, std::string_view token, UnixSeconds now) const {
    std::vector<SigningKey> keys;
    for (const std::string& file : options.key_files)
        if (const auto* key = keys_.find(file))
            keys.push_back(*key);
    for (const std::string& url : options.jwks)
        if (const auto* set = key_sets_.find(url))
            keys.insert(keys.end(), set->begin(), set->end());
    auto verified = verify_jwt(token, keys, {options.rights_claim, options.issuer, options.audience}, now);
    const auto is_missing = [this](const std::string& url) { return key_sets_.find(url) == nullptr; };
    if (verified.ok() || std::ranges::none_of(options.jwks, is_missing) || std::ranges::count(token, '.') != 2 ||
        verify_jws(token, keys).ok())
        return verified;
    return Error(Errc::limit, "the keys that tokens are verified with cannot be read at the moment: try again");
}

}  // namespace live::service::tokens
