// ForwardOptions: the destinations of one virtual host's streams, as plain values with defaults.
#pragma once

#include <string>
#include <vector>

#include "base/config/option_check.hpp"

namespace live::service::forward {

struct ForwardOptions {
    bool enabled = false;
    // host, host:port, or a whole rtmp://, rtmps:// or srt:// URL; every published stream is pushed to each.
    std::vector<std::string> destinations;
    // A URL that returns destinations; overrides `destinations` when set.
    std::string backend;
};

// One destination that cannot be used does not stop the others.
config::Findings check_forward_options(const ForwardOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<ForwardOptions> kForwardCheck{check_forward_options};

}  // namespace live::service::forward
