// The options of the library of recordings and of playback from it, with their defaults.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace live::service::recordings {

struct PlaybackOptions {
    bool enabled = false;
    std::vector<std::string> listen = {"9996"};
};

// The rules by which recordings are kept. Zero switches a rule off.
struct RetentionOptions {
    std::chrono::milliseconds delete_after{0};
    // MiB.
    std::uint32_t stream_size = 0;
    std::uint32_t total_size = 0;
    std::uint32_t min_free = 0;

    bool is_on() const { return delete_after.count() > 0 || stream_size > 0 || total_size > 0 || min_free > 0; }
};

}  // namespace live::service::recordings
