// Access options of one virtual host: the addresses and pages that may publish and play. Plain values with their defaults.
#pragma once

#include <string>
#include <vector>

namespace live::service::access {

struct SecurityOptions {
    bool enabled = false;
    // Each rule as written: {"publish" or "play", "all", an address or a network}.
    std::vector<std::vector<std::string>> allow;
    std::vector<std::vector<std::string>> deny;
};

struct ReferOptions {
    bool enabled = false;
    // Suffixes of host names.
    std::vector<std::string> all;
    std::vector<std::string> publish;
    std::vector<std::string> play;
};

}  // namespace live::service::access
