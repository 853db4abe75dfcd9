// HLS over recordings: the playlist of a span (format=hls of /get), and that of a live stream with its past, which grows with the
// recording in progress. Segments are parts of the recordings (PlaybackSession).
#pragma once

#include <string>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/recordings/playback_context.hpp"
#include "service/recordings/playback_request.hpp"
#include "service/recordings/recorded_playlist.hpp"
#include "session/http/exchange.hpp"

namespace live::service::recordings {

// Segments whose lines are written in one turn.
inline constexpr std::size_t kSegmentsPerTurn = 1'000;
// A stream whose newest recording has ended this recently may continue.
inline constexpr MediaTime kLiveMax = std::chrono::seconds(10);

enum class PlaylistOf : bool { span, live };

// A span with subtitles has a master playlist. `url` is that of the source. `get` is where segments are requested.
Result<void> send_recorded_playlist(session::http::Exchange& exchange, const PlaybackContext& context, const std::string& url,
                                    const GetAddress& get, const PlaybackRequest& asked, PlaylistOf kind, io::Deadline deadline);

// A master playlist, which names the time that a time before now is: players load that one again. It has the languages of
// subtitles that are recorded so far. `name` is that of the playlist, `parameters` those of all requests ("&name=value").
Result<void> send_timeshift_master(session::http::Exchange& exchange, const PlaybackContext& context, const std::string& url,
                                   const PlaybackRequest& asked, const std::string& name, const std::string& parameters,
                                   io::Deadline deadline);

}  // namespace live::service::recordings
