#include "service/recordings/playback_handler.hpp"

#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "io/fibers/loop.hpp"
#include "service/recordings/playback_session.hpp"
#include "session/http/client.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::service {

constexpr session::ClientKindRow recordings::kRecordingPlay{.name = "recording-play", .plays_files = true};

namespace recordings {

namespace http = session::http;

namespace {

using wire::http::Status;

constexpr std::string_view kList = "/list";
constexpr std::string_view kGet = "/get";

// Where to get a span: at the address that the client has used.
std::string get_url(const http::Request& request, const PlaybackRequest& asked) {
    const std::string host(request.message.headers.find("Host").value_or("127.0.0.1"));
    std::string url = fmt::format("{}://{}{}?path={}", request.secure ? "https" : "http", host, kGet,
                                  wire::http::percent_encode(asked.app + "/" + asked.stream));
    // The virtual host, and the proof of the right to play.
    for (const auto& [name, value] : request.target.query.parameters())
        if (name != "path" && name != "start" && name != "end" && name != "duration" && name != "format")
            url += "&" + wire::http::percent_encode(name) + "=" + wire::http::percent_encode(value);
    return url;
}

}  // namespace

session::Protocol describe_playback(std::function<session::Traffic()> traffic) {
    return {.name = "playback",
            .kinds = {{session::ClientKind(kRecordingPlay), sizeof(PlaybackSession)}},
            .traffic = std::move(traffic)};
}

session::ClientRequest PlaybackHandler::client_of(const http::Request& request, const PlaybackRequest& asked) const {
    auto client = http::client_of(request, session::ClientKind(kRecordingPlay), request.vhost(), asked.app, asked.stream);
    client.protocol = request.secure ? "recordings-https" : "recordings-http";
    const auto referer = request.message.headers.find("Referer");
    client.page_url = referer.value_or("");
    return client;
}

Result<void> PlaybackHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (request.path() != kList && request.path() != kGet)
        return exchange.send(playback_error(Status::not_found, "there is /list and /get"), deadline);
    if (!request.is_get()) {
        auto reply = playback_error(Status::method_not_allowed, "GET is the only method");
        reply.headers.emplace_back("Allow", "GET, HEAD, OPTIONS");
        return exchange.send(std::move(reply), deadline);
    }
    const auto asked = PlaybackRequest::parse(request.target.query);
    if (!asked.ok())
        return exchange.send(playback_error(Status::bad_request, asked.error().sentence()), deadline);
    return admit_and_serve(exchange, *asked, deadline);
}

Result<void> PlaybackHandler::admit_and_serve(http::Exchange& exchange, const PlaybackRequest& asked, io::Deadline deadline) {
    const session::ClientRequest client = client_of(exchange.request(), asked);
    auto served = context_.admission.play(client, deadline).served();
    if (!served.ok() && served.code() == Errc::cancelled)
        return served.error();
    if (!served.ok())
        return exchange.send(playback_error(http::status_for(served.code()), served.error().sentence()), deadline);
    const auto* const plan = std::get_if<session::StreamPlan>(&*served);
    if (plan == nullptr)
        return exchange.send(playback_error(Status::not_found, "the recordings are on another server"), deadline);
    const session::AdmittedPlay admitted(context_.events, client, *plan);
    context_.library.note_request();
    if (exchange.request().path() == kGet)
        return PlaybackSession(exchange, context_, client, *plan, asked).run(deadline);
    return send_list(exchange, plan->url, asked, deadline);
}

Result<void> PlaybackHandler::send_list(http::Exchange& exchange, const std::string& url, const PlaybackRequest& asked,
                                        io::Deadline deadline) {
    const RecordedStream* const stream = context_.library.index().find(url);
    std::optional<WallTime> end = asked.end;
    if (!end && asked.start && asked.duration)
        end = *asked.start + *asked.duration;
    const auto spans = stream == nullptr ? std::vector<RecordedSpan>() : spans_of(*stream, asked.start, end);
    if (spans.empty()) {
        const bool is_early = !context_.library.is_complete();
        return exchange.send(playback_error(is_early ? Status::service_unavailable : Status::not_found,
                                            is_early ? "the recordings are being read: try again" : "no recording was found"),
                             deadline);
    }
    const std::string get = get_url(exchange.request(), asked);
    if (spans.size() <= kSpansPerTurn)
        return exchange.send({.body = list_text(spans, 0, spans.size(), get), .headers = {}}, deadline);
    http::Head head;
    head.content_type = "application/json";
    TRY(exchange.send_head(head, deadline));
    if (exchange.request().is_head())
        return {};
    const bool has_chunks = exchange.body_end() == http::BodyEnd::chunks;
    for (std::size_t at = 0; at < spans.size(); at += kSpansPerTurn) {
        std::string text = list_text(spans, at, kSpansPerTurn, get);
        if (has_chunks)
            text = fmt::format("{:x}\r\n{}\r\n", text.size(), text);
        exchange.traffic().sent_bytes += text.size();
        TRY(exchange.stream().write_all(std::array{io::as_part(as_bytes(text))},
                                        deadline.sooner(io::Deadline::after(PlaybackSession::kStallLimit))));
        TRY(io::yield(deadline));
    }
    return has_chunks ? exchange.finish_chunks(deadline) : Result<void>();
}

}  // namespace recordings
}  // namespace live::service
