// PlaybackHandler: requests for recordings: /list, the spans of a stream, and /get, an excerpt of them; on the port of the live
// streams below /recordings, and there also the playlist of a live stream with its past: /APP/STREAM.m3u8?start=.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/recordings/playback_context.hpp"
#include "service/recordings/playback_request.hpp"
#include "session/http/exchange.hpp"
#include "session/http/handler.hpp"

namespace live::service::recordings {

class PlaybackHandler final : public session::http::Handler {
public:
    // Spans of a list that are written in one turn.
    static constexpr std::size_t kSpansPerTurn = 1'000;

    // `folder` is in front of the paths: "" or "/recordings".
    PlaybackHandler(const PlaybackContext& context, std::string folder) : context_(context), folder_(std::move(folder)) {}

    bool takes(const session::http::Request& request) const override;
    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    session::ClientRequest client_of(const session::http::Request& request, const PlaybackRequest& asked) const;
    Result<void> admit_and_serve(session::http::Exchange& exchange, const PlaybackRequest& asked, io::Deadline deadline);
    Result<void> serve_admitted(session::http::Exchange& exchange, const session::ClientRequest& client,
                                const session::StreamPlan& plan, const PlaybackRequest& asked, io::Deadline deadline);
    Result<void> send_timeshift(session::http::Exchange& exchange, const std::string& url, const PlaybackRequest& asked,
                                io::Deadline deadline);
    Result<void> send_list(session::http::Exchange& exchange, const std::string& url, const PlaybackRequest& asked,
                           io::Deadline deadline);

    const PlaybackContext context_;
    const std::string folder_;
};

}  // namespace live::service::recordings
