// TokenOptions: the access block of one virtual host. Plain values with their defaults.
#pragma once

#include <string>
#include <vector>

#include "base/config/option_check.hpp"

namespace live::service::tokens {

struct TokenOptions {
    bool enabled = false;
    std::vector<std::string> key_files = {"./objs/access.key"};
    // URLs of key sets.
    std::vector<std::string> jwks;
    std::string rights_claim = "mediamtx_permissions";
    std::string issuer;
    std::string audience;
    // Signed URLs in the forms of other servers; empty: not accepted.
    std::string secure_link;
    std::string policy_key;
    std::vector<std::string> policy_rights = {"play"};
    // Each right as written: {"publish", "play" or "playback"}, or with a pattern of paths.
    std::vector<std::vector<std::string>> anybody;
};

// Whether players need a token for some streams.
bool guards_play(const TokenOptions& options);

config::Findings check_token_options(const TokenOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<TokenOptions> kTokenCheck{check_token_options, true};

}  // namespace live::service::tokens
