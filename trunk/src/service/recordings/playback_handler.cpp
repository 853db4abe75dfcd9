#include "service/recordings/playback_handler.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "io/fibers/loop.hpp"
#include "service/recordings/hls_playback.hpp"
#include "service/recordings/playback_session.hpp"
#include "session/http/client.hpp"
#include "session/http/mime.hpp"
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
// The same, for players that go by the endings of paths.
constexpr std::array<std::string_view, 5> kGetNames = {kGet, "/get.mp4", "/get.m4s", "/get.m3u8", "/get.vtt"};

constexpr std::string_view kPlaylistEnding = ".m3u8";

// The virtual host and the proof of the right to play: "&name=value" of each parameter that is not of the span.
std::string passed_on(const http::Request& request) {
    constexpr std::array kOfTheSpan = {"path", "start", "end", "duration", "format", "offset", "bytes", "at", "language"};
    std::string text;
    for (const auto& [name, value] : request.target.query.parameters())
        if (std::ranges::find(kOfTheSpan, name) == kOfTheSpan.end())
            text += "&" + wire::http::percent_encode(name) + "=" + wire::http::percent_encode(value);
    return text;
}

// Where to get a span, with the parameters that all have.
GetAddress get_address(const http::Request& request, const std::string& folder, const PlaybackRequest& asked) {
    return {folder + std::string(kGet),
            "path=" + wire::http::percent_encode(asked.app + "/" + asked.stream) + passed_on(request)};
}

// The address that the client has used.
std::string origin_of(const http::Request& request) {
    return fmt::format("{}://{}", request.secure ? "https" : "http", request.message.headers.find("Host").value_or("127.0.0.1"));
}

bool is_timeshift(const http::Request& request) {
    const bool is_span = request.path().ends_with("/get.m3u8") && request.target.query.find("path");
    return request.path().ends_with(kPlaylistEnding) && request.target.query.find("start") && !is_span;
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
    client.extension = request.path();
    return client;
}

bool PlaybackHandler::takes(const http::Request& request) const {
    if (is_timeshift(request))
        return true;
    if (!request.path().starts_with(folder_))
        return false;
    const std::string_view name = std::string_view(request.path()).substr(folder_.size());
    return name == kList || std::ranges::find(kGetNames, name) != kGetNames.end();
}

Result<void> PlaybackHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!takes(request))
        return exchange.send(playback_error(Status::not_found, "there is /list and /get"), deadline);
    if (!request.is_get()) {
        auto reply = playback_error(Status::method_not_allowed, "GET is the only method");
        reply.headers.emplace_back("Allow", "GET, HEAD, OPTIONS");
        return exchange.send(std::move(reply), deadline);
    }
    const auto asked = is_timeshift(request) ? PlaybackRequest::parse_timeshift(request.path(), request.target.query)
                                             : PlaybackRequest::parse(request.target.query);
    if (!asked.ok())
        return exchange.send(playback_error(Status::bad_request, asked.error().sentence()), deadline);
    return admit_and_serve(exchange, *asked, deadline);
}

Result<void> PlaybackHandler::admit_and_serve(http::Exchange& exchange, const PlaybackRequest& asked, io::Deadline deadline) {
    const session::ClientRequest client = client_of(exchange.request(), asked);
    auto served = context_.admission.play(client, deadline).served();
    if (!served.ok() && served.code() == Errc::cancelled)
        return served.error();
    if (!served.ok()) {
        auto reply = playback_error(http::status_for(served.code()), served.error().sentence());
        http::add_challenge(reply);
        return exchange.send(std::move(reply), deadline);
    }
    const auto* const plan = std::get_if<session::StreamPlan>(&*served);
    if (plan == nullptr)
        return exchange.send(playback_error(Status::not_found, "the recordings are on another server"), deadline);
    const session::AdmittedPlay admitted(context_.events, client, *plan);
    context_.library.note_request();
    return serve_admitted(exchange, client, *plan, asked, deadline);
}

Result<void> PlaybackHandler::serve_admitted(http::Exchange& exchange, const session::ClientRequest& client,
                                             const session::StreamPlan& plan, const PlaybackRequest& asked,
                                             io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (is_timeshift(request))
        return send_timeshift(exchange, plan.url, asked, deadline);
    if (request.path().ends_with(kList))
        return send_list(exchange, plan.url, asked, deadline);
    using Format = PlaybackRequest::Format;
    if (asked.format == Format::hls || asked.format == Format::media || asked.format == Format::text)
        return send_recorded_playlist(exchange, context_, plan.url, get_address(request, folder_, asked), asked, PlaylistOf::span,
                                      deadline);
    return PlaybackSession(exchange, context_, client, plan, asked).run(deadline);
}

// A time before now becomes a fixed one, so that the playlist only grows.
Result<void> PlaybackHandler::send_timeshift(http::Exchange& exchange, const std::string& url, const PlaybackRequest& asked,
                                             io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!asked.ago)
        return send_recorded_playlist(exchange, context_, url, get_address(request, folder_, asked), asked, PlaylistOf::live,
                                      deadline);
    return send_timeshift_master(exchange, context_, url, asked, asked.stream + std::string(kPlaylistEnding), passed_on(request),
                                 deadline);
}

Result<void> PlaybackHandler::send_list(http::Exchange& exchange, const std::string& url, const PlaybackRequest& asked,
                                        io::Deadline deadline) {
    const RecordedStream* const stream = context_.library.index().find(url);
    const auto start = asked.start_at(wall_now());
    std::optional<WallTime> end = asked.end;
    if (!end && start && asked.duration)
        end = *start + *asked.duration;
    const auto spans = stream == nullptr ? std::vector<RecordedSpan>() : spans_of(*stream, start, end);
    if (spans.empty()) {
        const bool is_early = !context_.library.is_complete();
        return exchange.send(playback_error(is_early ? Status::service_unavailable : Status::not_found,
                                            is_early ? "the recordings are being read: try again" : "no recording was found"),
                             deadline);
    }
    const GetAddress address = get_address(exchange.request(), folder_, asked);
    const std::string get = origin_of(exchange.request()) + address.path + "?" + address.parameters;
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
