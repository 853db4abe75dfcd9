// /api/v1/streams/ID/subtitles: POST puts the cues of a WebVTT text into a live stream, as lines of subtitles.
#pragma once

#include <string_view>
#include <vector>

#include "api/common/server_info.hpp"
#include "media/ring/timed_event.hpp"
#include "media/source/stream_table.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// Reads a text in WebVTT as events whose times are those of the cues, `delay` later. Errc::malformed for another text, or when a
// cue begins after TimedEvent::kDelayMax; Errc::limit.
Result<std::vector<media::TimedEvent>> read_posted_cues(std::string_view text, std::string_view language, MediaTime delay);

class SubtitlesHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/streams/{id}/subtitles";
    // The longest body.
    static constexpr std::size_t kBytesMax = 64U << 10;

    // All outlive this.
    SubtitlesHandler(const ServerInfo& server, const service::stats::StreamStats& stats, const media::StreamTable& streams)
        : server_(server), stats_(stats), streams_(streams) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::stats::StreamStats& stats_;
    const media::StreamTable& streams_;
};

}  // namespace live::api
