// A listening TCP socket. accept() survives everything a peer or a full descriptor table can do to it.
#pragma once

#include <cstdint>
#include <memory>

#include "base/net/endpoint.hpp"
#include "io/net/tcp_stream.hpp"

namespace live::io {

class TcpListener {
public:
    static constexpr int kBacklog = 4096;

    // Port 0 picks a free one. An IPv6 endpoint accepts IPv6 only, so that "0.0.0.0" and "[::]" can share a port. Errc::conflict
    // when the port is taken, Errc::denied when it may not be bound, Errc::system.
    static Result<std::unique_ptr<TcpListener>> listen(const Endpoint& on, PortSharing sharing = PortSharing::alone);
    TcpListener(Socket socket, Socket spare, const Endpoint& endpoint)
        : socket_(std::move(socket)), spare_(std::move(spare)), endpoint_(endpoint) {}

    // The next connection. When the process has no descriptor left, waiting connections are closed, so that the peers notice at
    // once, and counted in refused(). Errc::timed_out, Errc::cancelled, Errc::closed after close().
    Result<std::unique_ptr<TcpStream>> accept(Deadline deadline);

    // With the actual port when 0 was requested.
    const Endpoint& endpoint() const { return endpoint_; }
    int native_handle() const { return socket_.fd(); }
    std::uint64_t refused() const { return refused_; }
    void close();
    bool is_open() const { return socket_.is_open(); }

private:
    bool refuse_one();

    Socket socket_;
    Socket spare_;  // reserved for when no other descriptor is left
    Endpoint endpoint_;
    std::uint64_t refused_ = 0;
};

}  // namespace live::io
