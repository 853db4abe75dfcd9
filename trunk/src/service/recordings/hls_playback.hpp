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

// `url` is that of the source. `get` is where segments are requested.
Result<void> send_recorded_playlist(session::http::Exchange& exchange, const PlaybackContext& context, const std::string& url,
                                    const GetAddress& get, const PlaybackRequest& asked, PlaylistOf kind, io::Deadline deadline);

// A master playlist with one entry, which names the time that a time before now is: players load that one again.
std::string timeshift_master(const RecordedStream& stream, const std::string& name, WallTime start,
                             const std::string& parameters);

}  // namespace live::service::recordings
