// Clip: a span of a stream that becomes a file, and what those that make clips need.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/options_of.hpp"
#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"
#include "media/source/stream_table.hpp"
#include "service/dvr/dvr_context.hpp"
#include "service/dvr/options.hpp"
#include "service/recordings/recordings_service.hpp"

namespace live::service::clips {

// A span of a stream, and the file that it becomes.
struct Clip {
    std::string vhost;
    std::string app;
    std::string stream;
    std::string file;
    WallTime start{};
    MediaTime duration{};
};

// The application of clips of an application's streams.
inline std::string app_of_clips(const std::string& app) { return "clips/" + app; }

// A clip that is complete or has failed.
struct ClipEvent {
    const Clip& clip;
    std::string error;  // empty: it is complete
    std::uint64_t bytes = 0;
};

struct ClipContext {
    recordings::RecordingsService& library;
    media::StreamTable& streams;
    const OptionsOf<dvr::DvrOptions>& options;
    dvr::DvrContext recording;  // without events
    // Must not suspend.
    std::function<void(const ClipEvent&)> on_clip;
};

}  // namespace live::service::clips
