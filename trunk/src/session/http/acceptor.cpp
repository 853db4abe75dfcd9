#include "session/http/acceptor.hpp"

#include <chrono>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "engine/http1/writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/common/accept_loop.hpp"
#include "session/http/connection.hpp"
#include "wire/http/status.hpp"

namespace live::session::http {

namespace {

// The stack of a parked fiber below serve() should fit into one page, so rarely used code has its own frames.
[[gnu::noinline]] void turn_away(io::TcpStream& stream, Context& context) {
    const std::string text = engine::http1::ResponseBuilder(wire::http::Status::service_unavailable)
                                 .header("Date", context.date.text(std::chrono::system_clock::now()))
                                 .with_body("text/plain", "too many connections\n");
    const std::array parts{io::as_part(as_bytes(text))};
    static_cast<void>(stream.try_write(parts));
}

[[gnu::noinline]] void log_tls(const Log& log, const Error& error) {
    LOG_WARN(log, "HTTPS client finished. reason=\"TLS: {}\"", error.text());
}

}  // namespace

Acceptor::Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimits& places,
                   ConnectionLimits::Kind kind, io::Scope& connections, const Log& log)
    : listener_(std::move(listener)),
      tls_(tls),
      context_(context),
      places_(places),
      kind_(kind),
      connections_(connections),
      log_(log) {}

void Acceptor::run(io::Deadline deadline) {
    accept_each(*listener_, connections_, "http", log_, deadline,
                [this](std::unique_ptr<io::TcpStream> stream, io::Deadline forever) { serve(std::move(stream), forever); });
}

void Acceptor::serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
    auto place = places_.take(kind_, stream->peer_ip(), sizeof(Connection), io::now());
    if (!place.ok())
        return turn_away(*stream, context_);
    const Log log = log_.with_id(random_id());
    if (other_ != nullptr) {
        const auto first = stream->peek(deadline.sooner(io::Deadline::after(kFirstByteLimit)));
        if (!first.ok())
            return;
        if (other_->begins_with(*first)) {
            other_->serve(std::move(stream), *std::move(place), deadline);
            return;
        }
    }
    serve_http(std::move(stream), log, deadline);
}

void Acceptor::serve_http(std::unique_ptr<io::TcpStream> stream, const Log& log, io::Deadline deadline) {
    // Clients wait for complete responses, so Nagle's algorithm only delays them.
    static_cast<void>(stream->set_no_delay(true));
    const std::string peer_ip = stream->peer_ip();
    // On the heap, because the stack of a parked fiber should fit into one page.
    if (tls_ == nullptr) {
        io::TcpStream* tcp = stream.get();
        std::make_unique<Connection>(std::move(stream), tcp, peer_ip, context_, places_, log)->run(deadline);
        return;
    }
    auto secured = io::TlsStream::accept(std::move(stream), *tls_, deadline.sooner(io::Deadline::after(kTlsLimit)));
    if (!secured.ok())
        log_tls(log, secured.error());
    else if (http2_ != nullptr && secured.value()->application_protocol() == "h2")
        http2_->serve(*std::move(secured), {peer_ip, context_, *tls_, places_, kind_, log}, deadline);
    else
        std::make_unique<Connection>(*std::move(secured), nullptr, peer_ip, context_, places_, log)->run(deadline);
}

}  // namespace live::session::http
