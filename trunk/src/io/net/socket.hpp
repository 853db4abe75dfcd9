// A descriptor that belongs to the loop: registered with the event engine from creation to close. The base of TcpStream,
// TcpListener and the others. Internal to the io room, and to load programs that watch their own sockets (bench/rtc_hub.cpp).
#pragma once

#include <cstdint>
#include <utility>

#include <sys/socket.h>

#include "base/net/endpoint.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"

namespace live::io {

// Directions to wait for; a bit set.
enum class Interest : std::uint8_t { none = 0, readable = 1, writable = 2, both = 3 };

// Why a wait ended; several may be true, at least one is. "Readable" and "writable" are hints that a try is worthwhile: earlier
// readiness that was not used is reported again, and a try may find nothing.
struct Ready {
    bool readable = false;
    bool writable = false;
    bool signalled = false;
    bool timed_out = false;
};

class Socket {
public:
    Socket() = default;
    // Takes ownership of a non-blocking descriptor. Negative: none.
    explicit Socket(int fd);
    Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Socket() { close(); }

    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    // A fiber waiting for it wakes with Errc::closed.
    void close();

    // Waits for a direction, the signal (consumed; may be nullptr), the deadline or a cancel. Errc::cancelled, Errc::closed when
    // the socket is closed meanwhile, Errc::system.
    Result<Ready> wait(Interest interest, Signal* signal, Deadline deadline);
    // The same for one direction, with the deadline as an error.
    Result<void> wait_for(Interest interest, Deadline deadline);

    // See Stream::coalesce_wakes.
    void coalesce_wakes();
    // Removes it from epoll until the next wait for it.
    void forget();
    // See Engine::is_blocked and Engine::set_blocked.
    bool is_blocked(Interest direction) const;
    void set_blocked(Interest direction);

private:
    int fd_ = -1;
};

// Endpoint <-> sockaddr.
struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t size = sizeof(sockaddr_storage);

    sockaddr* data() { return reinterpret_cast<sockaddr*>(&storage); }
    const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage); }
    // Errc::malformed when the endpoint's text is not an address.
    static Result<SocketAddress> of(const Endpoint& endpoint);
    // IPv4-mapped IPv6 addresses come out as IPv4; anything that is not IP as 0.0.0.0:0.
    Endpoint endpoint() const;
};

// Whether other sockets with the same setting may bind the port as well; the kernel distributes connections among them.
enum class PortSharing : std::uint8_t { alone, shared };

// An inherited socket (io/process/inheritance.hpp), else a new non-blocking one of `type` (SOCK_STREAM, SOCK_DGRAM) bound to
// `on`; IPv6 only when that is IPv6. A port that a TCP connection has just left can be reused at once. Errc::conflict when the
// port is taken, Errc::denied when it may not be bound, Errc::system.
Result<Socket> open_bound(const Endpoint& on, int type, PortSharing sharing = PortSharing::alone);
// Maps a failure to bind to or listen on `on` to one of these errors.
Error bind_error(const Endpoint& on, int error);
// With the actual port when 0 was requested.
Result<Endpoint> bound_endpoint(const Socket& socket);

}  // namespace live::io
