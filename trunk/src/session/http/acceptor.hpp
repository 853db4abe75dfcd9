// Acceptor: takes HTTP or HTTPS connections from one listening socket and gives each a fiber of its own.
#pragma once

#include <chrono>
#include <memory>

#include "base/log.hpp"
#include "io/scope.hpp"
#include "io/tcp_listener.hpp"
#include "io/tls_context.hpp"
#include "session/common/connection_limit.hpp"
#include "session/http/context.hpp"

namespace live::session::http {

class Acceptor {
public:
    // A TLS handshake that takes longer is given up.
    static constexpr std::chrono::seconds kTlsLimit{10};

    // `tls` is nullptr for plain HTTP. The connections' fibers belong to `connections`. All references outlive this and the
    // connections.
    Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimit& limit,
             io::Scope& connections, const Log& log);

    // Until cancelled, or until the listener is closed.
    void run(io::Deadline deadline);
    const io::TcpListener& listener() const { return *listener_; }
    // Nobody comes in any more; run() returns. Connections go on.
    void close() { listener_->close(); }

private:
    void start(std::unique_ptr<io::TcpStream> stream);
    void serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline);

    std::unique_ptr<io::TcpListener> listener_;
    io::TlsContext* tls_;
    Context& context_;
    ConnectionLimit& limit_;
    io::Scope& connections_;
    const Log& log_;
};

}  // namespace live::session::http
