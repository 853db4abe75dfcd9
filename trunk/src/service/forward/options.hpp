// ForwardOptions: the destinations of one virtual host's streams, as plain values with defaults.
#pragma once

#include <string>
#include <vector>

namespace live::service::forward {

struct ForwardOptions {
    bool enabled = false;
    // host, host:port, or a whole rtmp://, rtmps:// or srt:// URL; every published stream is pushed to each.
    std::vector<std::string> destinations;
    // A URL that returns destinations; overrides `destinations` when set.
    std::string backend;
};

}  // namespace live::service::forward
