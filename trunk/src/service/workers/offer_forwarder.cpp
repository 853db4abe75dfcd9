#include "service/workers/offer_forwarder.hpp"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/net/endpoint.hpp"
#include "base/text/json_text.hpp"
#include "service/workers/client_texts.hpp"
#include "wire/http/status.hpp"

namespace live::service::workers {

using session::http::error_reply;
using session::http::Reply;
using session::rtc::OfferRequest;
using session::rtc::Opened;
using wire::http::Status;
using Json = nlohmann::json;
using Track = std::optional<media::TrackId>;

namespace {

constexpr std::pair<const char*, std::string OfferRequest::*> kTexts[] = {
    {"offer", &OfferRequest::offer},         {"api_host", &OfferRequest::api_host}, {"codec", &OfferRequest::codec},
    {"rendition", &OfferRequest::rendition}, {"ufrag", &OfferRequest::ufrag},       {"pwd", &OfferRequest::pwd}};
constexpr std::pair<const char*, Track media::TrackChoice::*> kTracks[] = {{"audio", &media::TrackChoice::audio},
                                                                           {"video", &media::TrackChoice::video}};

}  // namespace

std::string OfferForwarder::write_offer(const OfferRequest& offered) {
    Json body = {{"dtls", offered.dtls}};
    write_client(body, offered.client);
    for (const auto& [key, member] : kTexts)
        body[key] = offered.*member;
    for (const auto& [key, member] : kTracks)
        if (const Track& track = offered.tracks.*member)
            body[key] = static_cast<unsigned>(*track);
    if (const auto& candidate = offered.candidate)
        body["candidate"] = candidate->port ? Endpoint{candidate->host, *candidate->port}.text() : candidate->host;
    return text_of(body);
}

std::optional<OfferRequest> OfferForwarder::read_offer(const std::string& body) {
    const Json asked = Json::parse(body, nullptr, false);
    OfferRequest offered;
    offered.purpose = wire::sdp::Purpose::play;
    read_client(asked, offered.client);
    for (const auto& [key, member] : kTexts)
        offered.*member = text_at(asked, key);
    if (offered.offer.empty() || offered.client.stream.empty())
        return std::nullopt;
    offered.dtls = asked.value("dtls", Json(true)) == true;
    for (const auto& [key, member] : kTracks)
        if (const std::uint64_t id = number_at(asked, key); asked.contains(key) && id <= std::numeric_limits<std::uint8_t>::max())
            offered.tracks.*member = media::TrackId(static_cast<std::uint8_t>(id));
    if (const auto candidate = parse_host(text_at(asked, "candidate")); candidate.ok())
        offered.candidate = *candidate;
    return offered;
}

Result<std::optional<Opened>> OfferForwarder::open(const OfferRequest& offered, io::Deadline deadline) {
    using Answer = std::optional<Opened>;
    const auto url = workers_.is_on() ? url_of_(offered.client) : std::nullopt;
    // A stream that this worker publishes or pulls as frames is played here.
    const auto source = url ? streams_.find(*url) : Ref<media::Source>();
    if (!url || (source && source->is_published()))
        return Answer();
    const auto where = workers_.find(*url, deadline);
    if (!where.ok() && where.code() == Errc::cancelled)
        return Error(where.error());
    if (!where.ok() || !*where)
        return Answer();
    if (asking_ >= kAskingMax)
        return Error(Errc::limit, "too many offers wait for another worker");
    http_client::HttpCall call;
    call.url = "http://worker" + std::string(kPath);
    call.headers.add("Content-Type", "application/json");
    call.body = write_offer(offered);
    const auto answered = [&] {
        const Counted counted(asking_);
        return workers_.ask((*where)->worker, call, deadline.sooner(io::Deadline::after(kLimit)));
    }();
    if (!answered.ok() && answered.code() == Errc::cancelled)
        return Error(answered.error());
    // A worker that has frames, or that has ended, returns no answer.
    const bool is_said = answered.ok() && answered->status == Status::ok;
    const Json said = is_said ? Json::parse(answered->body, nullptr, false) : Json();
    if (!text_at(said, "refused").empty())
        return refusal_in(said);
    const Opened opened{text_at(said, "answer"), text_at(said, "session"), text_at(said, "token"), {}};
    return opened.answer.empty() ? Answer() : Answer(opened);
}

Reply OfferForwarder::handle(const session::http::Request& request, io::Deadline deadline) {
    if (request.message.method != "POST")
        return error_reply(Status::method_not_allowed, "workers post here");
    auto offered = read_offer(request.message.body);
    if (!offered)
        return error_reply(Status::bad_request, "this is no message of a worker");
    const auto url = url_of_(offered->client);
    const auto source = url ? streams_.find(*url) : Ref<media::Source>();
    if (opener_ == nullptr || !source || !source->publications().brings_rtp())
        return error_reply(Status::not_found, "this worker does not have the stream as RTP");
    const auto opened = opener_->open(*std::move(offered), deadline);
    if (!opened.ok())
        return Reply{.body = text_of(refusal_json<Json>(opened.error())), .headers = {}};
    return Reply{.body = text_of(Json{{"answer", opened->answer}, {"session", opened->session}, {"token", opened->token}}),
                 .headers = {}};
}

}  // namespace live::service::workers
