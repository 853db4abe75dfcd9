#include "api/streams/rtc_handler.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/envelope.hpp"
#include "base/text/json_text.hpp"
#include "session/rtc/offer_request.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;
using session::rtc::Opened;

namespace {

using Json = nlohmann::ordered_json;

constexpr int kRefused = 400;

// Empty when the member is missing or not text.
std::string text_member(const Json& body, const char* name) {
    const auto found = body.find(name);
    return found == body.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

}  // namespace

Result<Opened> RtcHandler::open(const Request& request, io::Deadline deadline) {
    const Json body = Json::parse(request.message.body, nullptr, false);
    if (!body.is_object())
        return Error(Errc::malformed, "the body is no JSON object");
    session::rtc::UrlOfferRequest asked;
    asked.sdp = text_member(body, "sdp");
    asked.stream_url = text_member(body, "streamurl");
    asked.api = text_member(body, "api");
    asked.client_ip = text_member(body, "clientip");
    if (asked.sdp.empty() || asked.stream_url.empty())
        return Error(Errc::malformed, "sdp and streamurl are needed");
    auto offered = TRY(offer_request_of(request, purpose_, std::move(asked)));
    auto opened = TRY(opener_.open(std::move(offered), deadline));
    // This API has no redirect; WHEP has.
    if (opened.elsewhere)
        return Error(Errc::not_found, "the stream is on another server");
    return opened;
}

Reply RtcHandler::handle(const Request& request, io::Deadline deadline) {
    const auto opened = open(request, deadline);
    Json answer = Json::parse(envelope(server_), nullptr, false);
    if (opened.ok()) {
        answer["sdp"] = opened->answer;
        answer["sessionid"] = opened->session;
    } else {
        answer["code"] = kRefused;
        answer["message"] = opened.error().sentence();
    }
    return json_reply(request, text_of(answer));
}

}  // namespace live::api
