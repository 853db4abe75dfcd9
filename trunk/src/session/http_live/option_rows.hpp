// The rows of session/http_live/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "base/time.hpp"
#include "session/http_live/options.hpp"

namespace live::session::http_live {

inline constexpr auto kRemuxRows = config::Rows{
    config::row(&RemuxOptions::enabled, "enabled", config::Reload::next_session, "HTTP live streams."),
    config::row(&RemuxOptions::mount, "mount", config::Reload::next_session, "URL template; its extension selects the format."),
    config::row(&RemuxOptions::fast_cache, "fast_cache", 0s, 3600s, config::Reload::next_session,
                "Seconds of audio that a player of .aac or .mp3 gets first."),
    config::row(&RemuxOptions::drop_if_not_match, "drop_if_not_match", config::Reload::next_session,
                "Drops what the FLV header did not announce."),
    config::row(&RemuxOptions::has_audio, "has_audio", config::Reload::next_session, "The FLV header announces audio."),
    config::row(&RemuxOptions::has_video, "has_video", config::Reload::next_session, "The FLV header announces video."),
    config::row(&RemuxOptions::guess_has_av, "guess_has_av", config::Reload::next_session,
                "Finds both out: kinds whose configuration or frames came, or that metadata or a program map announce."),
};

}  // namespace live::session::http_live
