#include "session/http/exchange.hpp"

#include <array>
#include <chrono>
#include <utility>

#include "base/log/log_format.hpp"
#include "base/text/secret.hpp"
#include "engine/http1/writer.hpp"
#include "session/http/page_guard.hpp"
#include "wire/http/accepted_coding.hpp"
#include "wire/http/status.hpp"

namespace live::session::http {

namespace http1 = engine::http1;

namespace {

using wire::http::Status;

constexpr std::string_view kVary = "Vary";

// The head of a response over HTTP/2, filled as http1::ResponseBuilder is.
struct FieldList {
    std::vector<std::pair<std::string, std::string>> fields{};

    void header(std::string_view name, std::string_view value) { fields.emplace_back(name, value); }
};

// Everything that the response depends on, in one field (RFC 9110, 12.5.5). A cache must not answer a page with the response to a
// request without an Origin, or the other way round.
template <class Builder>
void add_vary(Builder& builder, const Context& context, const Request& request, const Head& head) {
    std::string fields = context.allows_cross_origin || is_control(request.path()) ? "Origin" : "";
    const auto add = [&fields](std::string_view field) { fields.append(fields.empty() ? "" : ", ").append(field); };
    if (head.varies_by_coding)
        add("Accept-Encoding");
    for (const auto& [name, value] : head.headers)
        if (name == kVary)
            add(value);
    if (!fields.empty())
        builder.header(kVary, fields);
}

template <class Builder>
void add_common_headers(Builder& builder, Context& context, const Request& request) {
    builder.header("Server", context.server);
    builder.header("Date", context.date.text(std::chrono::system_clock::now()));
    if (!context.allows_cross_origin || !request.message.headers.find("Origin"))
        return;
    for (const char* name : {"Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Expose-Headers"})
        builder.header(name, "*");
    // Fetch, 3.2.5: the asterisk covers every field but this one, which is used by WHIP, WHEP and pages that sign in to the API.
    const std::string& path = request.target.path;
    const bool takes_password = path.starts_with("/rtc/") || (context.auth.enabled && path.starts_with("/api/"));
    builder.header("Access-Control-Allow-Headers", takes_password ? "*, Authorization" : "*");
    builder.header("Access-Control-Allow-Credentials", "false");
    builder.header("Access-Control-Request-Private-Network", "true");
}

template <class Builder>
void add_headers(Builder& builder, Context& context, const Request& request, const Head& head) {
    add_common_headers(builder, context, request);
    add_vary(builder, context, request, head);
    for (const auto& [name, value] : head.headers)
        if (name != kVary)
            builder.header(name, value);
    if (!head.content_type.empty())
        builder.header("Content-Type", head.content_type);
}

}  // namespace

bool accepts_gzip(const Request& request) {
    const auto codings = request.message.headers.find("Accept-Encoding");
    return codings && wire::http::accepts_coding(*codings, "gzip");
}

// Defined here and not next to its class, which Exchange depends on.
Result<void> Handler::serve(Exchange& exchange, io::Deadline deadline) {
    return exchange.send(handle(exchange.request(), deadline), deadline);
}

Exchange::~Exchange() {
    if (is_unanswered())
        log_request();
}

// Logs the request when the response begins, so that the line has the status; 0 without a response, because the client has
// disconnected. In its own stack frame: a live stream is served for hours.
[[gnu::noinline]] void Exchange::log_request() const {
    constexpr std::size_t kTargetShown = 512;
    constexpr std::size_t kHostShown = 256;
    if (connection_.number == 0)
        return;
    const http1::Request& message = request_.message;
    LOG_INFO(connection_.log, "HTTP #{} {} {} {}://{}{}, content-length={}, status={}", connection_.number,
             connection_.stream.peer(), message.method, connection_.tcp == nullptr ? "https" : "http",
             message.headers.find("Host").value_or("").substr(0, kHostShown),
             redacted(std::string_view(message.target).substr(0, kTargetShown)),
             message.headers.find("Content-Length").value_or("-1"), status_);
}

// Playlists, MPDs and JSON. Other workers' requests are answered as they are: the client's worker compresses.
bool Exchange::compress(Reply& reply) {
    if (request_.is_sibling || reply.body.size() < content::kGzipBodyMin || !content::is_compressible(reply.content_type))
        return false;
    const auto packed = accepts_gzip(request_) ? connection_.context.bodies.compressed(reply.body) : nullptr;
    if (packed != nullptr) {
        reply.body = *packed;
        reply.headers.emplace_back("Content-Encoding", "gzip");
    }
    return true;
}

Result<void> Exchange::send(Reply reply, io::Deadline deadline) {
    const bool varies = compress(reply);
    // RFC 9110, 8.6: 204 has no length.
    const BodyEnd end = reply.status == Status::no_content ? BodyEnd::none : BodyEnd::length;
    const Head head{.status = reply.status,
                    .content_type = std::move(reply.content_type),
                    .end = end,
                    .length = reply.body.size(),
                    .headers = std::move(reply.headers),
                    .varies_by_coding = varies};
    std::string text = head_text(head);
    if (!request_.is_head())
        text += reply.body;
    return send_text(text, deadline);
}

Result<void> Exchange::send_head(const Head& head, io::Deadline deadline) { return send_text(head_text(head), deadline); }

std::string Exchange::head_text(const Head& head) {
    const bool is_first = is_unanswered();
    status_ = head.status;
    if (is_first)
        log_request();
    const bool has_chunks = multiplexed_ == nullptr && request_.message.minor_version >= 1;
    end_ = head.end == BodyEnd::chunks && !has_chunks ? BodyEnd::close : head.end;
    is_last_ = head.is_last || end_ == BodyEnd::close || status_ == Status::switching_protocols;
    if (multiplexed_ != nullptr) {
        queue_head(head);
        return {};
    }
    http1::ResponseBuilder builder(head.status, connection_said());
    add_headers(builder, connection_.context, request_, head);
    if (end_ == BodyEnd::length)
        builder.header("Content-Length", std::to_string(head.length));
    else if (end_ == BodyEnd::chunks)
        builder.header("Transfer-Encoding", "chunked");
    return builder.without_body();
}

void Exchange::queue_head(const Head& head) {
    FieldList list;
    add_headers(list, connection_.context, request_, head);
    if (end_ == BodyEnd::length)
        list.header("Content-Length", std::to_string(head.length));
    multiplexed_->respond({head.status, std::move(list.fields), request_.is_head() ? BodyEnd::none : head.end, head.length});
}

// While it is open whether an unread body will be read, the response announces close, although the connection may still stay
// open.
http1::ResponseBuilder::Connection Exchange::connection_said() const {
    using Said = http1::ResponseBuilder::Connection;
    if (status_ == Status::switching_protocols)
        return Said::upgrade;
    return must_close() ? Said::close : Said::keep_alive;
}

Result<void> Exchange::finish_chunks(io::Deadline deadline) {
    if (multiplexed_ != nullptr)
        multiplexed_->end_body();
    return end_ == BodyEnd::chunks ? send_text(http1::kLastChunk, deadline) : Result<void>();
}

Result<std::string> Exchange::read_body(io::Deadline deadline) {
    if (multiplexed_ != nullptr)
        return body_is_read_ ? std::string() : multiplexed_->read_body(deadline);
    auto& parser = *connection_.parser;
    auto& rest = *connection_.rest;
    Context& context = connection_.context;
    while (!body_is_read_) {
        if (std::string part = parser.take_body(); !part.empty())
            return part;
        if (auto whole = parser.next()) {
            body_is_read_ = true;
            return std::move(whole->body);
        }
        if (!rest.empty()) {
            const std::vector<std::uint8_t> waiting = std::exchange(rest, {});
            const std::size_t used = TRY(parser.feed(waiting));
            rest.assign(waiting.begin() + static_cast<std::ptrdiff_t>(used), waiting.end());
            continue;
        }
        if (parser.take_wants_continue())
            TRY(send_text(http1::kContinue, deadline));
        const std::size_t count = TRY(connection_.stream.read_some(context.scratch, deadline));
        context.traffic.received_bytes += count;
        const Bytes input = context.scratch.first(count);
        const std::size_t used = TRY(parser.feed(input));
        const Bytes left = input.subspan(used);
        rest.assign(left.begin(), left.end());
    }
    return std::string();
}

Result<void> Exchange::send_text(std::string_view text, io::Deadline deadline) {
    const std::array parts{io::as_part(as_bytes(text))};
    connection_.context.traffic.sent_bytes += text.size();
    return connection_.stream.write_all(parts, deadline.sooner(io::Deadline::after(kSendLimit)));
}

}  // namespace live::session::http
