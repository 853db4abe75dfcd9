#include "session/http/connection.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/log/log_format.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::session::http {

namespace http1 = engine::http1;

using wire::http::Status;

Connection::Connection(std::unique_ptr<io::Stream> stream, io::TcpStream* tcp, std::string peer_ip, Context& context,
                       ConnectionLimits& places, const Log& log)
    : stream_(std::move(stream)),
      tcp_(tcp),
      peer_(stream_->peer()),
      peer_ip_(std::move(peer_ip)),
      context_(context),
      places_(places),
      log_(log),
      memory_(places.memory(), MemoryBudget::Kind::unfinished, *this) {
    make_parser();
}

void Connection::run(io::Deadline deadline) { finish(serve(deadline)); }

Connection::Ended Connection::run_until_silent(io::Deadline deadline) {
    returns_when_silent_ = true;
    const auto ended = serve(deadline);
    if (ended.ok() && *ended == Ended::silent)
        return Ended::silent;
    finish(ended);
    return Ended::over;
}

void Connection::finish(const Result<Ended>& ended) {
    if (!ended.ok() && ended.code() != Errc::closed && ended.code() != Errc::cancelled)
        log_end(ended.error());
    stream_->close();
}

// Not inlined, because run() stays on the stack for hours while a live stream is served.
[[gnu::noinline]] void Connection::log_end(const Error& error) {
    LOG_WARN(log_, "HTTP client {} finished. reason=\"{}\"", stream_->peer(), error.text());
}

void Connection::lose_memory(std::string why) {
    LOG_WARN(log_, "closing HTTP client {}: {}", stream_->peer(), why);
    stream_->close();
}

Result<Connection::Ended> Connection::serve(io::Deadline deadline) {
    for (;;) {
        // The time limit of the first request starts with the connection; before a later request the client may be idle.
        if (requests_ > 0)
            if (const auto waited = TRY(wait_for_next(deadline)); waited != Waited::request)
                return waited == Waited::silent ? Ended::silent : Ended::over;
        const auto received = receive(deadline.sooner(io::Deadline::after(kReceiveLimit)));
        if (!received.ok()) {
            refuse_for(received.error(), deadline);
            return Error(received.error());
        }
        if (!message_ || TRY(answer(deadline)) == Next::close)
            return Ended::over;
    }
}

// A closed connection is reported by the next read.
Result<Connection::Waited> Connection::wait_for_next(io::Deadline deadline) {
    if (!rest_.empty())
        return Waited::request;
    if (context_.idle.has_ended())
        return Waited::over;
    // Freed while it is still in the CPU cache, and because an idle client should hold no memory.
    request_.reset();
    parser_.reset();
    memory_.set(0);
    const IdleStreams::Entry idle(context_.idle, *stream_);
    auto waited = stream_->wait_readable(deadline.sooner(io::Deadline::after(kBusyLimit)));
    if (!waited.ok() && waited.code() == Errc::timed_out && returns_when_silent_)
        return Waited::silent;
    if (!waited.ok() && waited.code() == Errc::timed_out) {
        io::trim_stack();
        waited = stream_->wait_readable(deadline.sooner(io::Deadline::after(kIdleLimit - kBusyLimit)));
    }
    if (!waited.ok() && waited.code() != Errc::timed_out)
        return Error(waited.error());
    make_parser();
    return waited.ok() ? Waited::request : Waited::over;
}

void Connection::make_parser() {
    parser_.emplace(context_.limits, [this](const http1::Request& head) { return streams_body(head); });
}

void Connection::refuse_for(const Error& error, io::Deadline deadline) {
    if (error.code() != Errc::closed && error.code() != Errc::cancelled && error.code() != Errc::system)
        refuse(error.code() == Errc::timed_out ? Status::request_timeout : parser_->error_status(), deadline);
}

// Reads remaining input for a moment: closing with unread bytes resets the connection, and the response would be lost.
void Connection::refuse(int status, io::Deadline deadline, http1::Request message) {
    const std::uint64_t number = message.method.empty() ? 0 : context_.requests;
    Request refused;
    refused.message = std::move(message);
    Exchange exchange(refused, {*stream_, tcp_, context_, &*parser_, &rest_, memory_, log_, number, false}, BodyMode::whole);
    if (!exchange.send(error_reply(status, http1::reason_of(status)), deadline).ok())
        return;
    const auto limit = deadline.sooner(io::Deadline::after(kRefusalLimit));
    for (std::size_t drained = 0; drained < kRefusalBytesMax;) {
        const auto count = stream_->read_some(context_.scratch, limit);
        if (!count.ok())
            return;
        drained += *count;
    }
}

Result<void> Connection::receive(io::Deadline deadline) {
    for (;;) {
        if (const http1::Request* streamed = parser_->streamed()) {
            message_ = *streamed;
            return {};
        }
        message_ = parser_->next();
        if (message_)
            return {};
        if (!rest_.empty()) {
            const std::vector<std::uint8_t> rest = std::exchange(rest_, {});
            TRY(feed(rest));
            continue;
        }
        if (parser_->take_wants_continue()) {
            const std::array parts{io::as_part(as_bytes(http1::kContinue))};
            TRY(stream_->write_all(parts, deadline));
        }
        const auto count = stream_->read_some(context_.scratch, deadline);
        if (!count.ok()) {
            const bool is_done = count.code() == Errc::closed || count.code() == Errc::timed_out;
            if (is_done && parser_->is_idle())
                return {};
            return Error(count.error());
        }
        context_.traffic.received_bytes += *count;
        TRY(feed(context_.scratch.first(*count)));
    }
}

// The parser stops after one request; the remaining input is kept until that request is answered.
Result<void> Connection::feed(Bytes input) {
    const std::size_t used = TRY(parser_->feed(input));
    memory_.set(parser_->held_bytes() + input.size() - used);
    if (used == 0 && !input.empty())
        return Error(Errc::malformed, "bytes that belong to no HTTP request");
    const Bytes left = input.subspan(used);
    rest_.assign(left.begin(), left.end());
    return {};
}

Request Connection::made_of(http1::Request message, wire::http::Target target) const {
    return {std::move(message), std::move(target),     log_.id(),          peer_, peer_ip_,
            tcp_ == nullptr,    context_.allows_jsonp, context_.is_sibling};
}

bool Connection::streams_body(const http1::Request& head) const {
    auto target = wire::http::parse_target(head.target);
    if (!target.ok())
        return false;
    const Request request = made_of(head, *std::move(target));
    const Router::Match match = context_.router.find(request);
    return !own_answer(context_, request, match, log_) && match.handler->body_mode(request) == BodyMode::streamed;
}

// Refuses unsupported requests. Not inlined, for the same reason as route().
[[gnu::noinline]] Result<void> Connection::understand_next(io::Deadline deadline) {
    ++requests_;
    ++context_.requests;
    auto target = wire::http::parse_target(message_->target);
    if (!target.ok()) {
        refuse(Status::bad_request, deadline, *std::move(message_));
        return Error(target.error());
    }
    // RFC 9112, 3.2.
    if (message_->minor_version >= 1 && !message_->headers.find("Host")) {
        refuse(Status::bad_request, deadline, *std::move(message_));
        return Error(Errc::malformed, "an HTTP/1.1 request without a Host");
    }
    request_ = made_of(*std::move(message_), *std::move(target));
    message_.reset();
    return {};
}

Result<Connection::Next> Connection::answer(io::Deadline deadline) {
    const BodyMode mode = parser_->streamed() != nullptr ? BodyMode::streamed : BodyMode::whole;
    TRY(understand_next(deadline));
    Exchange exchange(*request_, {*stream_, tcp_, context_, &*parser_, &rest_, memory_, log_, context_.requests, may_stay()},
                      mode);
    if (Handler* handler = TRY(route(exchange, deadline)))
        TRY(handler->serve(exchange, deadline));
    note_action(context_, *request_, exchange.status());
    return exchange.must_close() ? Next::close : Next::go_on;
}

bool Connection::may_stay() const {
    return request_->message.keep_alive && requests_ < kRequestsMax && !places_.is_crowded() && !context_.idle.has_ended();
}

// Returns the handler for the request; nullptr if the connection itself has already sent the response. Not inlined, because its
// caller stays on the stack for hours while a live stream is served.
[[gnu::noinline]] Result<Handler*> Connection::route(Exchange& exchange, io::Deadline deadline) {
    const Router::Match match = context_.router.find(*request_);
    identify_caller(context_, *request_, deadline);
    auto own = own_answer(context_, *request_, match, log_);
    if (!own)
        return match.handler;
    TRY(exchange.send(*std::move(own), deadline));
    return nullptr;
}

}  // namespace live::session::http
