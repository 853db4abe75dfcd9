// TcpPort: WebRTC over TCP (RFC 6544, passive; framing of RFC 4571), for clients whose network blocks UDP. The client connects
// and sends the same datagrams as over UDP: the first must be a check for one of our sessions. It has listeners of its own, or
// shares a port with HTTP.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "session/http/acceptor.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtc/transport/port.hpp"

namespace live::session::rtc {

class TcpPort final : public http::ProtocolSniffer {
public:
    // Until the first check for a session; then between two datagrams: browsers check consent every 5 s.
    static constexpr std::chrono::seconds kFirstLimit{10};
    static constexpr std::chrono::seconds kIdleLimit{30};
    // Limit of output that a client has not taken yet. Beyond this datagrams are lost, as they would be in a router.
    static constexpr std::size_t kPendingBytesMax = 1 << 20;

    // `scratch` is shared with all fibers. Everything referred to outlives the connections.
    TcpPort(Port& port, ConnectionLimits& places, MutBytes scratch, const Log& log)
        : port_(port), places_(places), scratch_(scratch), log_(log) {}
    TcpPort(const TcpPort&) = delete;
    TcpPort& operator=(const TcpPort&) = delete;

    // Takes ownership; the connections' fibers also belong to `scope`.
    Result<void> listen(std::unique_ptr<io::TcpListener> listener, io::Scope& scope);
    // A check is shorter than 2 KiB, and its frame begins with its length; HTTP begins with a letter, TLS with 22.
    bool begins_with(std::uint8_t first) const override { return first < 8; }
    void serve(std::unique_ptr<io::TcpStream> stream, ConnectionLimits::Place place, io::Deadline deadline) override;
    // Stops accepting; connections continue.
    void close() {
        for (const auto& listener : listeners_)
            listener->close();
    }
    // The port of the first listener; 0 without one.
    std::uint16_t port_number() const { return listeners_.empty() ? std::uint16_t{0} : listeners_.front()->endpoint().port; }

private:
    class Link;

    Port& port_;
    ConnectionLimits& places_;
    MutBytes scratch_;
    const Log& log_;
    std::vector<std::unique_ptr<io::TcpListener>> listeners_;
};

}  // namespace live::session::rtc
