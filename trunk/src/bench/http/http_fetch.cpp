#include "bench/http/http_fetch.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/version.hpp"
#include "bench/http/url_reference.hpp"
#include "bench/load/discard.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"

namespace live::bench {

namespace http1 = engine::http1;

namespace {

bool is_redirect(int status) { return status == 301 || status == 302 || status == 303 || status == 307 || status == 308; }
// RFC 9110, 15.4: with these a client may, or shall, continue with GET.
bool may_become_get(int status) { return status < 307; }
// Another protocol follows: the rest of the connection is the body.
bool is_raw(const http1::ResponseParser& answer) { return answer.is_complete() && answer.head()->status == 101; }

}  // namespace

Result<void> HttpFetch::send(Asked asked, const std::string& url, const http1::Headers& headers, BodySink& sink,
                             io::Deadline deadline) {
    asked_ = std::move(asked);
    final_url_ = url;
    int again = 0;
    for (int hop = 0; hop <= kRedirectsMax;) {
        auto next = exchange(headers, sink, deadline);
        if (!next.ok()) {
            drop_connection();
            return Error(next.error());
        }
        if (*next == Next::done)
            return {};
        // A server may close a kept connection just when it is reused; once, that is not a failure.
        if (*next == Next::try_again && ++again > 1)
            return Error(Errc::closed, "the server closes connections before it responds");
        if (*next == Next::redirected) {
            final_url_ = resolve_reference(final_url_, location_);
            ++hop;
        }
    }
    return Error(Errc::limit, fmt::format("more than {} redirects", kRedirectsMax));
}

Result<HttpFetch::Next> HttpFetch::exchange(const http1::Headers& headers, BodySink& sink, io::Deadline deadline) {
    const auto url = TRY(wire::http::parse_url(final_url_));
    const bool was_used = stream_ != nullptr && place_ == Place{url.host, url.port, url.is_secure};
    if (!was_used)
        TRY(connect(url, deadline));
    http1::Headers fields = headers;
    fields.add("User-Agent", fmt::format("{}/{}", name_of(client_.context.tool), kVersion));
    fields.add("Accept", "*/*");
    const auto connection =
        headers.find("Upgrade") ? http1::ResponseBuilder::Connection::upgrade : http1::ResponseBuilder::Connection::keep_alive;
    const std::string request = http1::write_request(asked_.method, url.target, url.authority(), fields, asked_.body, connection);
    http1::ResponseParser answer;
    location_.clear();
    head_seen_ = false;
    auto received = write(as_bytes(request), deadline);
    if (received.ok())
        received = receive(answer, sink, deadline);
    if (!received.ok() && received.code() == Errc::closed && was_used && !head_seen_) {
        drop_connection();
        return Next::try_again;
    }
    TRY(std::move(received));
    if (!answer.head()->keep_alive || is_raw(answer))
        drop_connection();
    return location_.empty() ? Next::done : Next::redirected;
}

Result<void> HttpFetch::connect(const wire::http::Url& url, io::Deadline deadline) {
    drop_connection();
    place_ = {url.host, url.port, url.is_secure};
    stream_ = TRY(client_.context.dialer.dial(place_, deadline.sooner(io::Deadline::after(LoadTask::kStartLimit))));
    if (connection_ == Connection::is_the_clients)
        client_.meter.on_connected(io::now());
    return {};
}

Result<void> HttpFetch::write(Bytes bytes, io::Deadline deadline) {
    const std::array parts{io::as_part(bytes)};
    TRY(stream_->write_all(parts, deadline.sooner(io::Deadline::after(LoadTask::kIdleLimit))));
    client_.count_out(bytes.size());
    return {};
}

Result<void> HttpFetch::receive(http1::ResponseParser& answer, BodySink& sink, io::Deadline deadline) {
    while (!answer.is_complete() || is_raw(answer)) {
        const auto limit = deadline.sooner(io::Deadline::at(io::now() + LoadTask::kIdleLimit));
        const auto count = stream_->read_some(client_.scratch(), limit);
        if (!count.ok() && count.code() == Errc::closed)
            return answer.finish();
        TRY(Result<std::size_t>(count));
        client_.count_in(*count);
        TRY(take_input(answer, sink, Bytes(client_.scratch()).first(*count)));
        if (const auto output = sink.take_output(); !output.empty())
            TRY(write(output, deadline));
        if (head_seen_ && location_.empty() && !sink.needs_body())
            return discard(deadline);
    }
    return {};
}

// The end of the body is unknown, so the connection is not reused.
Result<void> HttpFetch::discard(io::Deadline deadline) {
    const auto ended = Discard(client_, *stream_).take(UINT64_MAX, deadline);
    drop_connection();
    return ended.code() == Errc::closed ? Result<void>() : ended;
}

Result<void> HttpFetch::take_input(http1::ResponseParser& answer, BodySink& sink, Bytes input) {
    const TimePoint now = io::now();
    while (!input.empty()) {
        if (answer.is_complete() && !is_raw(answer))
            return Error(Errc::malformed, "the server sends data after its response");
        const Bytes piece = is_raw(answer) ? std::exchange(input, Bytes()) : TRY(answer.read_piece(input));
        if (answer.head() != nullptr && !head_seen_) {
            head_seen_ = true;
            TRY(on_head(*answer.head(), sink));
        }
        if (!piece.empty() && location_.empty())
            TRY(sink.on_body(now, piece));
    }
    return {};
}

Result<void> HttpFetch::on_head(const http1::Response& answer, BodySink& sink) {
    if (is_redirect(answer.status)) {
        if (asked_.method != "GET" && may_become_get(answer.status))
            return Error(Errc::unsupported, fmt::format("status {} to a {}", answer.status, asked_.method));
        location_ = std::string(answer.headers.find("Location").value_or(""));
        if (location_.empty())
            return Error(Errc::malformed, fmt::format("status {} without a Location", answer.status));
        return {};
    }
    if (answer.status >= 400)
        return Error(Errc::denied, fmt::format("the server responds with status {} for {}", answer.status, final_url_));
    return sink.on_head(answer);
}

void HttpFetch::drop_connection() {
    if (stream_ != nullptr)
        stream_->close();
    stream_.reset();
}

}  // namespace live::bench
