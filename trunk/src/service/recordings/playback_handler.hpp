// PlaybackHandler: the requests of the playback port: /list, the spans of a stream, and /get, an excerpt of them.
#pragma once

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

    explicit PlaybackHandler(const PlaybackContext& context) : context_(context) {}

    Result<void> serve(session::http::Exchange& exchange, io::Deadline deadline) override;

private:
    session::ClientRequest client_of(const session::http::Request& request, const PlaybackRequest& asked) const;
    Result<void> admit_and_serve(session::http::Exchange& exchange, const PlaybackRequest& asked, io::Deadline deadline);
    Result<void> send_list(session::http::Exchange& exchange, const std::string& url, const PlaybackRequest& asked,
                           io::Deadline deadline);

    const PlaybackContext context_;
};

}  // namespace live::service::recordings
