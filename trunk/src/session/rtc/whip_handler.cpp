#include "session/rtc/whip_handler.hpp"

#include <utility>

#include <fmt/format.h>

#include "engine/http1/message.hpp"
#include "session/http/redirect.hpp"
#include "session/http/status_for.hpp"
#include "session/rtc/offer_request.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::session::rtc {

using http::error_reply;
using http::Reply;
using http::Request;
using wire::http::percent_encode;

namespace {

using wire::http::Status;

constexpr std::string_view kSdp = "application/sdp";
constexpr std::string_view kFragment = "application/trickle-ice-sdpfrag";

// The media type without its parameters; empty if missing.
std::string_view type_of(const Request& request) {
    const std::string_view value = request.message.headers.find("Content-Type").value_or("");
    const std::string_view type = value.substr(0, value.find(';'));
    return type.substr(0, type.find_last_not_of(" \t") + 1);
}

bool is_other_type(const Request& request, std::string_view wanted) {
    const std::string_view type = type_of(request);
    return !type.empty() && !engine::http1::same_name(type, wanted);
}

// RFC 9725, 4.3.1: a strong validator of the ICE session.
std::string tag_of(std::string_view session) { return "\"" + std::string(session) + "\""; }

// A malformed offer has a status of its own.
Reply refusal(const Error& error) {
    Reply reply = error_reply(rtc::status_for(error.code()), error.sentence());
    http::add_challenge(reply);
    return reply;
}

}  // namespace

Reply WhipHandler::handle(const Request& request, io::Deadline deadline) {
    const std::string& method = request.message.method;
    if (method == "POST")
        return open(request, deadline);
    if (method == "DELETE")
        return close(request);
    if (method == "PATCH")
        return trickle(request);
    return http::method_not_allowed("POST, DELETE, PATCH, OPTIONS", "a session is opened with POST");
}

Reply WhipHandler::open(const Request& request, io::Deadline deadline) {
    if (is_other_type(request, kSdp))
        return error_reply(Status::unsupported_media_type, "an offer is application/sdp");
    auto offered = offer_request_of(request, purpose_, vhosts_.shows_bearer() ? ShowBearer::yes : ShowBearer::no);
    if (!offered.ok())
        return error_reply(Status::bad_request, offered.error().sentence());
    const OfferRequest asked = *offered;
    auto opened = opener_.open(*std::move(offered), deadline);
    if (!opened.ok())
        return refusal(opened.error());
    if (opened->elsewhere)
        return http::redirect_reply(request, opened->elsewhere->api, asked.client.vhost, opened->elsewhere->mark);
    Reply reply{Status::created, std::string(kSdp), {}, {}};
    reply.headers.emplace_back("Location", location_of(asked, *opened));
    reply.headers.emplace_back("ETag", tag_of(opened->session));
    reply.headers.emplace_back("Accept-Patch", kFragment);
    reply.body = std::move(opened->answer);
    return reply;
}

std::string WhipHandler::location_of(const OfferRequest& offered, const Opened& opened) const {
    const bool publishes = offered.purpose == wire::sdp::Purpose::publish;
    return fmt::format("/rtc/v1/{}/?action=delete&token={}&app={}&stream={}&session={}", publishes ? "whip" : "whep",
                       opened.token, percent_encode(offered.client.app), percent_encode(offered.client.stream),
                       percent_encode(opened.session));
}

// Also succeeds for a session that is already gone: ending it twice gives the requested result.
Reply WhipHandler::close(const Request& request) {
    const auto& query = request.target.query;
    if (query.get("token").empty() || query.get("session").empty())
        return error_reply(Status::unauthorized, "a session is ended at the address that its answer named");
    const auto closed = opener_.close(query.get("session"), query.get("token"));
    if (!closed.ok() && closed.code() == Errc::denied)
        return error_reply(Status::unauthorized, closed.error().sentence());
    return {Status::ok, "text/plain", {}, {}};
}

// RFC 9725, 4.3: If-Match carries the session's tag, though careless clients omit it; "*" would be an ICE restart, which we do
// not support.
Reply WhipHandler::trickle(const Request& request) const {
    const auto& query = request.target.query;
    const auto known = opener_.check(query.get("session"), query.get("token"));
    if (!known.ok())
        return error_reply(known.code() == Errc::denied ? Status::unauthorized : Status::not_found, known.error().sentence());
    if (is_other_type(request, kFragment))
        return error_reply(Status::unsupported_media_type, "candidates are application/trickle-ice-sdpfrag");
    const auto match = request.message.headers.find("If-Match");
    if (match == "*")
        return error_reply(Status::unprocessable_content, "ICE is not restarted here; open a new session");
    if (match && *match != tag_of(query.get("session")))
        return error_reply(Status::precondition_failed, "the ETag is another session's");
    return {Status::no_content, {}, {}, {}};
}

}  // namespace live::session::rtc
