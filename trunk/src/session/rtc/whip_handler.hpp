// WhipHandler: WHIP (RFC 9725) and WHEP over HTTP: POST of an offer opens a session, DELETE of its URL ends it, PATCH takes
// trickled candidates. The server needs none of them, since the client sends the checks, which show its address; clients that
// trickle are accepted anyway. OPTIONS is answered by the connection.
#pragma once

#include "session/http/handler.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::session::rtc {

// The HTTP status for each reason to refuse a session.
constexpr int status_for(Errc code) {
    switch (code) {
        case Errc::malformed:
        case Errc::need_more:
        case Errc::unsupported: return 400;
        case Errc::not_found: return 404;
        case Errc::conflict: return 409;
        case Errc::limit:
        case Errc::timed_out: return 503;
        case Errc::denied: return 403;
        case Errc::unauthenticated: return 401;
        default: return 500;
    }
}

class WhipHandler final : public http::Handler {
public:
    // Everything referred to outlives this.
    WhipHandler(SessionOpener& opener, const RtcVhosts& vhosts, wire::sdp::Purpose purpose)
        : opener_(opener), vhosts_(vhosts), purpose_(purpose) {}

    http::Reply handle(const http::Request& request, io::Deadline deadline) override;

private:
    http::Reply open(const http::Request& request, io::Deadline deadline);
    http::Reply close(const http::Request& request);
    http::Reply trickle(const http::Request& request) const;
    std::string location_of(const OfferRequest& offered, const Opened& opened) const;

    SessionOpener& opener_;
    const RtcVhosts& vhosts_;
    const wire::sdp::Purpose purpose_;
};

}  // namespace live::session::rtc
