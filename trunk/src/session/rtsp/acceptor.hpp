// Acceptor: accepts RTSP or RTSPS connections from one listening socket and serves each in its own fiber.
#pragma once

#include <memory>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtsp/context.hpp"

namespace live::session::rtsp {

class Acceptor {
public:
    // A TLS handshake that takes longer is aborted.
    static constexpr std::chrono::seconds kTlsLimit{10};

    // `tls` is nullptr for plain RTSP. The connections' fibers belong to `connections`. Everything referred to outlives this.
    Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimits& places,
             io::Scope& connections, const Log& log);

    // Runs until cancelled.
    void run(io::Deadline deadline);
    // Makes run() return. The connections continue, and this must outlive them.
    void close() { listener_->close(); }
    const io::TcpListener& listener() const { return *listener_; }

private:
    void serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline);

    std::unique_ptr<io::TcpListener> listener_;
    io::TlsContext* tls_;
    Context& context_;
    ConnectionLimits& places_;
    io::Scope& connections_;
    const Log& log_;
};

}  // namespace live::session::rtsp
