// Options of a transcode {} block: ffmpeg programs that encode published streams and send the result elsewhere. Plain values with
// their defaults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "service/ffmpeg/options.hpp"

namespace live::service::engines {

enum class Feed : std::uint8_t { pipe, socket };

struct TranscodeOptions {
    // Empty for every stream, "app" or "app/stream".
    std::string scope;
    bool enabled = false;
    std::string ffmpeg;
    // The rest is ours.
    Feed feed = Feed::pipe;
    bool on_demand = false;
    bool share_process = false;
    std::vector<ffmpeg::EngineOptions> engines;
};

}  // namespace live::service::engines
