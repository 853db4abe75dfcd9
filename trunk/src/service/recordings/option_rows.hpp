// The rows of service/recordings/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/recordings/options.hpp"

namespace live::service::recordings {

inline constexpr auto kPlaybackRows = config::Rows{
    config::row(&PlaybackOptions::enabled, "enabled", config::Reload::restart,
                "Recordings over HTTP: /list has the spans of a stream, /get any part of them as MP4."),
    config::endpoints(&PlaybackOptions::listen, "listen", config::Reload::restart, "Its endpoints."),
};

inline constexpr auto kRetentionRows = config::Rows{
    config::row(&RetentionOptions::delete_after, "delete_after", 0s, 315'360'000s, config::Reload::live,
                "Recordings that ended so many seconds ago are deleted; 0 is never. Pinned ones and those in progress stay."),
    config::row(&RetentionOptions::stream_size, "stream_size", 0, 1'000'000'000, config::Reload::live,
                "MiB: when the recordings of a stream are larger, its oldest ones are deleted; 0 is no limit."),
    config::row(&RetentionOptions::total_size, "total_size", 0, 1'000'000'000, config::Reload::live,
                "MiB: when all recordings are larger, the oldest ones are deleted; 0 is no limit."),
    config::row(&RetentionOptions::min_free, "min_free", 0, 1'000'000'000, config::Reload::live,
                "MiB: when the disk has less free space, the oldest recordings are deleted; 0 is no limit."),
};

}  // namespace live::service::recordings
