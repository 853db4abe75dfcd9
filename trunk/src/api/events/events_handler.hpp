// /api/v1/streams/ID/events: POST puts a timed event into a live stream: a marker of SCTE 35, an ID3 tag, a message, or a line of
// subtitles.
#pragma once

#include <string>

#include "api/common/server_info.hpp"
#include "media/ring/timed_event.hpp"
#include "media/source/stream_table.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// An event as a data message.
struct PostedEvent {
    Slice message;
    std::string kind;  // "scte35", "id3" or "text"
    MediaTime delay{};
};
// Reads a request's body: `scte35` or `id3` in Base64; `cue` out or in, with `id` and `duration`; `name` and `data`; or `text`,
// `duration` and `language`; each with `delay`, the seconds until the event. Errc::malformed.
Result<PostedEvent> read_posted_event(const std::string& body);

class EventsHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/streams/{id}/events";

    // All outlive this.
    EventsHandler(const ServerInfo& server, const service::stats::StreamStats& stats, const media::StreamTable& streams)
        : server_(server), stats_(stats), streams_(streams) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::stats::StreamStats& stats_;
    const media::StreamTable& streams_;
};

}  // namespace live::api
