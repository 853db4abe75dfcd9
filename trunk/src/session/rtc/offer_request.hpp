// Parses an HTTP request for a WebRTC session: WHIP and WHEP by their query, the JSON API by a URL of the stream. Dry.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "session/http/handler.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::session::rtc {

enum class ShowBearer : bool { no, yes };

// POST of an offer. `path_purpose` is implied by the path; action=play makes it a player. Errc::malformed for an unusable
// parameter, Errc::denied for a forbidden name.
Result<OfferRequest> offer_request_of(const http::Request& request, wire::sdp::Purpose path_purpose, ShowBearer bearer);

// The members of a request to /rtc/v1/publish/ and /rtc/v1/play/ (spec: http-api, 12.1).
struct UrlOfferRequest {
    std::string sdp;
    std::string stream_url;  // "webrtc://host/app/stream?..."
    std::string api;         // URL of this call; may be empty
    std::string client_ip;   // overrides the connection's; may be empty
};
// Errors as above.
Result<OfferRequest> offer_request_of(const http::Request& request, wire::sdp::Purpose purpose, UrlOfferRequest asked);

}  // namespace live::session::rtc
