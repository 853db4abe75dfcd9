// PlayHandler: answers GET of an HTTP live stream with a PlaySession.
#pragma once

#include <memory>

#include "session/http/handler.hpp"
#include "session/http_live/context.hpp"

namespace live::session::http_live {

class PlaySession;

class PlayHandler final : public http::Handler {
public:
    explicit PlayHandler(Context& context) : context_(context) {}

    bool takes(const http::Request& request) const override;
    Result<void> serve(http::Exchange& exchange, io::Deadline deadline) override;

private:
    // HEAD: the response to GET without its body, and without a player.
    Result<void> send_head(http::Exchange& exchange, io::Deadline deadline) const;
    std::unique_ptr<PlaySession> session_for(http::Exchange& exchange) const;

    Context& context_;
};

}  // namespace live::session::http_live
