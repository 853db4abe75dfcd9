// The live stream that a path below /api/v1/streams/ names.
#pragma once

#include <string>
#include <string_view>

#include "media/source/stream_table.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// Returns the stream of /api/v1/streams/{id}/LAST. Null if no stream has that id, or if it has no publisher on this worker: a
// worker that only pulls the stream of another one lists no publisher.
inline Ref<media::Source> live_stream_of(const session::http::Request& request, const service::stats::StreamStats& stats,
                                         const media::StreamTable& streams) {
    constexpr std::string_view kStreamsPath = "/api/v1/streams/";
    const std::string& path = request.path();
    const std::string id = path.substr(kStreamsPath.size(), path.rfind('/') - kStreamsPath.size());
    const auto* const stream = stats.find_stream(id);
    const auto source = stream == nullptr ? Ref<media::Source>() : streams.find(stream->url);
    if (!source || !source->is_published())
        return {};
    const bool is_pulled = stream->publisher.empty() && !source->publications().is_standing_in();
    return is_pulled ? Ref<media::Source>() : source;
}

}  // namespace live::api
