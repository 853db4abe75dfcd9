// Acceptor: accepts HTTP or HTTPS connections from one listening socket and serves each in its own fiber.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/http/context.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::session::http {

// Another protocol on the same port, distinguished from HTTP and TLS by a client's first byte.
class ProtocolSniffer {
public:
    virtual bool begins_with(std::uint8_t first) const = 0;
    // Serves an entire connection, of which nothing has been read yet, with its place among the clients.
    virtual void serve(std::unique_ptr<io::TcpStream> stream, ConnectionLimits::Place place, io::Deadline deadline) = 0;

protected:
    ~ProtocolSniffer() = default;
};

// A client of an HTTPS port after its handshake. All references outlive the connection.
struct SecureClient {
    std::string peer_ip;
    Context& context;
    io::TlsContext& tls;
    ConnectionLimits& places;
    ConnectionLimits::Kind kind;
    const Log& log;
};

// Serves clients whose handshake has selected "h2".
class MultiplexedServer {
public:
    // Serves an entire connection.
    virtual void serve(std::unique_ptr<io::TlsStream> stream, const SecureClient& client, io::Deadline deadline) = 0;

protected:
    ~MultiplexedServer() = default;
};

class Acceptor {
public:
    // On a shared port a client must send something within this time.
    static constexpr std::chrono::seconds kFirstByteLimit{15};
    // A TLS handshake that takes longer is aborted.
    static constexpr std::chrono::seconds kTlsLimit{10};

    // `tls` is nullptr for plain HTTP. The connections take places of `kind`, and their fibers belong to `connections`. All
    // references outlive this and the connections.
    Acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, Context& context, ConnectionLimits& places,
             ConnectionLimits::Kind kind, io::Scope& connections, const Log& log);
    ~Acceptor();

    // To be called before run(). `other` outlives the connections.
    void share_with(ProtocolSniffer& other) { other_ = &other; }
    // To be called before run(), for an HTTPS port whose TLS context offers "h2". `server` outlives the connections.
    void serve_http2_with(MultiplexedServer& server) { http2_ = &server; }
    // Until cancelled, or until the listener is closed.
    void run(io::Deadline deadline);
    const io::TcpListener& listener() const { return *listener_; }
    // Stops accepting, and makes run() return. Connections continue.
    void close() { listener_->close(); }

private:
    // A client over plain TCP; silent ones, which have no fiber.
    struct Client;
    class Parking;

    void serve(std::unique_ptr<io::TcpStream> stream, io::Deadline deadline);
    void serve_plain(std::unique_ptr<io::TcpStream> stream, ConnectionLimits::Place place, const Log& log, io::Deadline deadline);
    void serve_secure(std::unique_ptr<io::TcpStream> stream, const Log& log, io::Deadline deadline);

    std::unique_ptr<io::TcpListener> listener_;
    io::TlsContext* tls_;
    Context& context_;
    ConnectionLimits& places_;
    ConnectionLimits::Kind kind_;
    io::Scope& connections_;
    const Log& log_;
    ProtocolSniffer* other_ = nullptr;
    MultiplexedServer* http2_ = nullptr;
    std::unique_ptr<Parking> parking_;
};

}  // namespace live::session::http
