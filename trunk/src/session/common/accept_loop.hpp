// Accepts connections from a listening socket and serves each in its own fiber.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/limits/proxy_rules.hpp"

namespace live::session {

// Reads the PROXY header of a peer that sends one, and sets the address of its client as the peer's. Returns false without a
// header: then the connection must be closed.
bool take_proxy_header(io::TcpStream& stream, const ProxyRules& proxies, const Log& log, io::Deadline deadline);

// The next connection; nullptr once cancelled, or when the listener was closed. Other errors are logged and retried.
std::unique_ptr<io::TcpStream> next_connection(io::TcpListener& listener, const Log& log, io::Deadline deadline);
void log_refused(const io::TcpStream& stream, const Error& error, const Log& log);
void log_accepted(const io::TcpStream& stream, std::string_view text, const Log& log);
void log_failed_handshake(const Error& error, const Log& log);

// Runs until next_connection() returns nullptr. `proxies` and `log` must outlive the connections. Each connection is served by
// serve(stream, deadline) in a fiber that belongs to `connections` and may outlive this call.
template <class Serve>
void accept_each(io::TcpListener& listener, io::Scope& connections, std::string_view fiber_name, const Log& log,
                 const ProxyRules& proxies, io::Deadline deadline, Serve serve) {
    while (auto stream = next_connection(listener, log, deadline)) {
        // std::function requires copyable captures; the stream's only owner is the fiber, which takes it out of the shared box.
        auto box = std::make_shared<std::unique_ptr<io::TcpStream>>(std::move(stream));
        const auto started = connections.start(fiber_name, [serve, box, &proxies, &log](io::Deadline forever) {
            if (take_proxy_header(**box, proxies, log, forever))
                serve(std::move(*box), forever);
        });
        if (!started.ok())
            log_refused(**box, started.error(), log);
    }
}

// One accepted connection. Addresses without ports.
struct Arrival {
    std::string client_ip;
    std::string server_ip;
    bool is_secure = false;
    // The client is another worker of this server.
    bool is_sibling = false;
};

struct AcceptorTexts {
    std::string_view fiber;
    std::string_view plain;  // begin a line of the log
    std::string_view secure;
};

// TcpAcceptor: accepts the connections of one listening socket, plain or over TLS, and serves each in its own fiber. `Connection`
// has kAcceptor, a constructor from (std::unique_ptr<io::Stream>, const Arrival&, Context&, MemoryBudget&, Log), and
// run(io::Deadline), which returns when the client is gone.
template <class Connection, class Context>
class TcpAcceptor {
public:
    // A TLS handshake that takes longer is aborted.
    static constexpr std::chrono::seconds kTlsLimit{10};

    // `tls` is nullptr for plain connections. The connections' fibers belong to `connections`. Everything referred to outlives
    // this.
    TcpAcceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimits& places,
                io::Scope& connections, const Log& log)
        : listener_(std::move(listener)), tls_(tls), context_(context), places_(places), connections_(connections), log_(log) {}

    // Runs until cancelled.
    void run(io::Deadline deadline) {
        accept_each(*listener_, connections_, Connection::kAcceptor.fiber, log_, places_, deadline,
                    [this](std::unique_ptr<io::TcpStream> stream, io::Deadline forever) { serve(std::move(stream), forever); });
    }
    // Makes run() return. The connections continue, and this must outlive them.
    void close() { listener_->close(); }
    const io::TcpListener& listener() const { return *listener_; }

private:
    void serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline) {
        const auto place = places_.take(ConnectionLimits::Kind::client, stream->peer_ip(), sizeof(Connection), io::now());
        if (!place.ok())
            return;
        const Log log = log_.with_id(random_id());
        const AcceptorTexts& texts = Connection::kAcceptor;
        log_accepted(*stream, tls_ == nullptr ? texts.plain : texts.secure, log);
        const Arrival arrival{stream->peer_ip(), stream->local_ip(), tls_ != nullptr};
        // On the heap, because the stack of a parked fiber should fit into one page.
        if (tls_ == nullptr) {
            std::make_unique<Connection>(std::move(stream), arrival, context_, places_.memory(), log)->run(deadline);
            return;
        }
        auto secured = io::TlsStream::accept(std::move(stream), *tls_, deadline.sooner(io::Deadline::after(kTlsLimit)));
        if (!secured.ok()) {
            log_failed_handshake(secured.error(), log);
            return;
        }
        std::make_unique<Connection>(*std::move(secured), arrival, context_, places_.memory(), log)->run(deadline);
    }

    std::unique_ptr<io::TcpListener> listener_;
    io::TlsContext* tls_;
    Context& context_;
    ConnectionLimits& places_;
    io::Scope& connections_;
    const Log& log_;
};

}  // namespace live::session
