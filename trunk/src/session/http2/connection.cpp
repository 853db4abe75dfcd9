#include "session/http2/connection.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "session/http/exchange.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::session::http2 {

namespace {

using engine::http2::Code;
using engine::http2::Event;
using wire::http::Status;

http::Reply plain_refusal(int status) { return http::error_reply(status, engine::http1::reason_of(status)); }

}  // namespace

Connection::Connection(std::unique_ptr<io::TlsStream> stream, const http::SecureClient& client)
    : stream_(std::move(stream)),
      client_(client),
      certificate_(client.tls.reloads()),
      engine_(client.context.limits),
      memory_(client.places.memory(), MemoryBudget::Kind::unfinished, *this),
      idle_since_(io::now()) {}

void Connection::run(io::Deadline deadline) {
    http::Http2Counters& counters = client_.context.http2;
    ++counters.connections;
    const auto ended = serve(deadline);
    if (const auto flood = engine_.flood())
        ++counters.floods[static_cast<std::size_t>(*flood)];
    if (!ended.ok() && ended.code() != Errc::closed && ended.code() != Errc::cancelled)
        log_end(ended.error());
    is_over_ = true;
    for (auto& [id, served] : served_)
        served.stream.on_event(Event::Kind::closed);
    const bool is_refused = !ended.ok() && (ended.code() == Errc::limit || ended.code() == Errc::malformed);
    say_goodbye(is_refused, deadline.sooner(io::Deadline::after(kGoodbyeLimit)));
    stream_->close();
    // As over HTTP/1.1, a handler that waits for something else notices the end when it writes.
    if (!fibers_.join(deadline).ok())
        static_cast<void>(fibers_.stop(io::Deadline::never()));
    --counters.connections;
}

[[gnu::noinline]] void Connection::log_end(const Error& error) {
    LOG_WARN(client_.log, "HTTP/2 client {} finished. reason=\"{}\"", stream_->peer(), error.text());
}

void Connection::lose_memory(std::string why) {
    LOG_WARN(client_.log, "closing HTTP/2 client {}: {}", stream_->peer(), why);
    stream_->close();
}

Result<void> Connection::serve(io::Deadline deadline) {
    const http::IdleStreams::Entry entry(client_.context.idle, wake_);
    for (;;) {
        finish_if_due();
        TRY(pump());
        static_cast<void>(wake_.consume());  // everything it stands for is looked at here
        const bool is_done = engine_.is_over() || (is_finishing_ && served_.empty() && engine_.streams() == 0);
        if (is_done && unsent_.empty())
            return {};
        // While the client reads nothing, its frames are not read either: their answers would have to be kept.
        const auto interest = unsent_.empty() ? io::Interest::readable : io::Interest::writable;
        const auto limit = served_.empty() ? deadline.sooner(io::Deadline::at(idle_since_ + kIdleLimit)) : deadline;
        const auto ready = TRY(stream_->wait_ready(interest, &wake_, limit));
        if (ready.timed_out) {
            engine_.finish();
            return {};
        }
        if (ready.readable)
            TRY(receive());
    }
}

Result<void> Connection::receive() {
    const auto count = stream_->try_read(client_.context.scratch);
    if (!count.ok())
        return count.code() == Errc::need_more ? Result<void>() : Result<void>(count.error());
    client_.context.traffic.received_bytes += *count;
    TRY(engine_.handle_bytes(io::now(), client_.context.scratch.first(*count)));
    memory_.set(engine_.held_bytes());
    dispatch();
    return {};
}

Result<void> Connection::pump() {
    constexpr std::size_t kBatchBytes = 32 << 10;
    if (is_over_)
        return Error(Errc::closed, "the connection is over");
    auto sent = send_unsent();
    while (sent.ok() && *sent) {
        // Nothing suspends before the frames are sent or kept.
        std::vector<std::uint8_t>& frames = client_.context.frames;
        frames.clear();
        Result<Bytes> output = engine_.next_output();
        while (output.ok() && !output->empty()) {
            frames.insert(frames.end(), output->begin(), output->end());
            if (frames.size() >= kBatchBytes)
                break;
            output = engine_.next_output();
        }
        if (output.ok() && frames.empty())
            break;
        sent = send(frames);
        if (!output.ok())
            sent = Result<bool>(output.error());
    }
    dispatch();
    if (sent.ok())
        return {};
    is_over_ = true;
    wake_.raise();
    return Error(sent.error());
}

// Keeps the bytes that the socket does not take. True when nothing is left.
Result<bool> Connection::send(Bytes frames) {
    while (!frames.empty()) {
        const std::size_t count = TRY(stream_->try_write(std::array{io::as_part(frames)}));
        frames = frames.subspan(count);
        if (count > 0)
            continue;
        unsent_.assign(frames.begin(), frames.end());
        wake_.raise();  // the connection's fiber waits for the socket
        return false;
    }
    return true;
}

// True when nothing is left.
Result<bool> Connection::send_unsent() {
    while (sent_ < unsent_.size()) {
        const std::size_t count = TRY(stream_->try_write(std::array{io::as_part(Bytes(unsent_).subspan(sent_))}));
        sent_ += count;
        if (count == 0) {
            wake_.raise();  // the connection's fiber waits for the socket
            return false;
        }
    }
    unsent_ = {};
    sent_ = 0;
    return true;
}

// Sends a GOAWAY if the client reads it. Closing with unread input would reset the connection and lose it.
void Connection::say_goodbye(bool is_refused, io::Deadline deadline) {
    constexpr std::size_t kDrainedBytesMax = 1 << 20;
    for (;;) {
        if (const auto sent = send_unsent(); !sent.ok())
            return;
        else if (!*sent) {
            if (const auto ready = stream_->wait_ready(io::Interest::writable, nullptr, deadline);
                !ready.ok() || ready->timed_out)
                return;
            continue;
        }
        const auto output = engine_.next_output();
        if (!output.ok() || output->empty())
            break;
        unsent_.assign(output->begin(), output->end());
    }
    for (std::size_t drained = 0; is_refused && drained < kDrainedBytesMax;) {
        const auto count = stream_->read_some(client_.context.scratch, deadline);
        if (!count.ok())
            return;
        drained += *count;
    }
}

void Connection::finish_if_due() {
    const bool is_due = client_.context.idle.has_ended() || client_.places.is_crowded() || requests_ >= kRequestsMax ||
                        client_.tls.reloads() != certificate_;
    // The first request is always served.
    if (!is_due || is_finishing_ || requests_ == 0)
        return;
    is_finishing_ = true;
    engine_.finish();
}

void Connection::dispatch() {
    while (const auto event = engine_.poll_event()) {
        if (event->kind == Event::Kind::request) {
            start_request(event->stream);
            continue;
        }
        if (const auto found = served_.find(event->stream); found != served_.end())
            found->second.stream.on_event(event->kind);
    }
}

void Connection::start_request(StreamId id) {
    ++requests_;
    ++client_.context.http2.requests;
    std::optional<ConnectionLimits::Place> place;
    const bool is_full = served_.size() >= kRequestsAtOnceMax;
    if (!is_full && !served_.empty())
        if (auto taken = client_.places.take_another(client_.kind, client_.peer_ip, sizeof(Served), io::now()); taken.ok())
            place.emplace(*std::move(taken));
    if (is_over_ || is_full || (!served_.empty() && !place)) {
        ++client_.context.http2.refused_streams;
        return engine_.reset(id, Code::refused_stream);
    }
    Link& link = *this;
    RequestStream& stream = served_.try_emplace(id, link, id, client_.places.memory(), std::move(place)).first->second.stream;
    const auto started =
        fibers_.start("http2-request", [this, id, &stream](io::Deadline forever) { serve_request(id, stream, forever); });
    if (started.ok())
        return;
    served_.erase(id);
    engine_.reset(id, Code::refused_stream);
}

void Connection::serve_request(StreamId id, RequestStream& stream, io::Deadline deadline) {
    bool is_ok = false;
    if (auto received = engine_.take_request(id)) {
        const Log log = client_.log.with_id(random_id());
        const auto answered = answer(stream, *std::move(received), log, deadline);
        is_ok = answered.ok();
        if (!is_ok && answered.code() != Errc::closed && answered.code() != Errc::cancelled)
            LOG_WARN(log, "HTTP/2 request of {} finished. reason=\"{}\"", stream_->peer(), answered.error().text());
    }
    stream.finish(is_ok);
    served_.erase(id);
    idle_since_ = io::now();
    wake_.raise();
}

Result<void> Connection::answer(RequestStream& stream, engine::http2::StreamRequest received, const Log& log,
                                io::Deadline deadline) {
    http::Context& context = client_.context;
    auto target = wire::http::parse_target(received.message.target);
    const bool is_understood = received.refusal == 0 && target.ok() && received.message.headers.find("Host");
    const bool is_awaited = received.message.headers.has_token("Expect", "100-continue");
    // On the heap, because a live stream is served for hours from this stack.
    const auto request = std::make_unique<http::Request>(
        http::Request{std::move(received.message), target.ok() ? *std::move(target) : wire::http::Target(), log.id(),
                      stream.peer(), client_.peer_ip, true, context.allows_jsonp, context.is_sibling});
    const http::Router::Match match = context.router.find(*request);
    if (is_understood)
        identify_caller(context, *request, deadline);
    auto own = own_answer(context, *request, match, log);
    if (!is_understood)
        own = plain_refusal(received.refusal == 0 ? Status::bad_request : received.refusal);
    auto mode = http::BodyMode::whole;
    if (!own && received.has_body) {
        mode = match.handler->body_mode(*request);
        if (is_awaited) {
            engine_.send_interim(stream.id(), 100);
            TRY(pump());
        }
        if (mode == http::BodyMode::whole)
            own = TRY(read_whole(stream, request->message.body, deadline));
    }
    const http::Exchange::Connection side{stream, nullptr, context, nullptr, nullptr, stream.memory(), log, ++context.requests,
                                          true};
    http::Exchange exchange(*request, side, mode, &stream);
    const auto answered = own ? exchange.send(*std::move(own), deadline) : match.handler->serve(exchange, deadline);
    note_action(context, *request, exchange.status());
    return answered;
}

// Returns the refusal of a body that is too long or too slow.
Result<std::optional<http::Reply>> Connection::read_whole(RequestStream& stream, std::string& body, io::Deadline deadline) {
    const auto limit = deadline.sooner(io::Deadline::after(kReceiveLimit));
    for (;;) {
        const auto part = stream.read_body(limit);
        if (!part.ok() && part.code() == Errc::timed_out)
            return std::optional(plain_refusal(Status::request_timeout));
        if (!part.ok())
            return Error(part.error());
        if (part->empty())
            return std::optional<http::Reply>();
        if (body.size() + part->size() > client_.context.limits.body_bytes)
            return std::optional(plain_refusal(Status::content_too_large));
        body += *part;
        stream.memory().set(body.size());
    }
}

void Server::serve(std::unique_ptr<io::TlsStream> stream, const http::SecureClient& client, io::Deadline deadline) {
    // On the heap, because the stack of a parked fiber should fit into one page.
    std::make_unique<Connection>(std::move(stream), client)->run(deadline);
}

}  // namespace live::session::http2
