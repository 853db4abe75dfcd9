// Access options of one virtual host: the addresses and pages that may publish and play. Plain values with their defaults.
#pragma once

#include <string>
#include <vector>

#include "base/config/option_check.hpp"

namespace live::service::access {

struct SecurityOptions {
    bool enabled = false;
    // Each rule as written: {"publish" or "play", "all", an address or a network}.
    std::vector<std::vector<std::string>> allow;
    std::vector<std::vector<std::string>> deny;
};

enum class Role : bool { play, publish };

// Whether there are addresses that the rules refuse.
bool restricts(const SecurityOptions& options, Role role);

struct ReferOptions {
    bool enabled = false;
    // Suffixes of host names.
    std::vector<std::string> all;
    std::vector<std::string> publish;
    std::vector<std::string> play;
};

config::Findings check_security_options(const SecurityOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<SecurityOptions> kSecurityCheck{check_security_options, true};

}  // namespace live::service::access
