// A descriptor that belongs to the loop: known to the event engine from birth to close. What TcpStream, TcpListener and the
// others are made of. Internal to the io room, and to load programs that watch sockets of their own (bench/rtc_hub.cpp).
#pragma once

#include <cstdint>
#include <utility>

#include <sys/socket.h>

#include "base/endpoint.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/deadline.hpp"

namespace live::io {

// Which directions to wait for; a bit set.
enum class Interest : std::uint8_t { none = 0, readable = 1, writable = 2, both = 3 };

// Why a wait ended; several may be true, all false never happens. "Readable" and "writable" mean that trying is worth it: what
// was ready before and has not been tried since is reported again, and a try may find nothing.
struct Ready {
    bool readable = false;
    bool writable = false;
    bool signalled = false;
    bool timed_out = false;
};

class Socket {
public:
    Socket() = default;
    // Takes a non-blocking descriptor over. Negative: nothing.
    explicit Socket(int fd);
    Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Socket& operator=(Socket&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Socket() { close(); }

    int fd() const { return fd_; }
    bool is_open() const { return fd_ >= 0; }
    // Whoever waits for it wakes with Errc::closed.
    void close();

    // Waits for a direction, the signal (consumed; may be nullptr), the deadline or a cancel. Errc::cancelled, Errc::closed when
    // the socket is closed meanwhile, Errc::system.
    Result<Ready> wait(Interest interest, Signal* signal, Deadline deadline);
    // The same for one direction, with the deadline as an error.
    Result<void> wait_for(Interest interest, Deadline deadline);

    // See Stream::coalesce_wakes.
    void coalesce_wakes();
    // Out of epoll until somebody waits for it again.
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
    // Errc::malformed when the endpoint's text is no address.
    static Result<SocketAddress> of(const Endpoint& endpoint);
    // IPv4 addresses mapped into IPv6 come out as IPv4; anything that is no IP as 0.0.0.0:0.
    Endpoint endpoint() const;
};

// Whether sockets that say the same of themselves may have the port, too; the kernel shares out among them who comes.
enum class PortSharing : std::uint8_t { alone, shared };

// A non-blocking socket of `type` (SOCK_STREAM, SOCK_DGRAM) that is bound to `on`; IPv6 only when that is IPv6. A port that a TCP
// connection has just left can be taken at once. Errc::conflict when the port is taken, Errc::denied when it may not be bound,
// Errc::system.
Result<Socket> open_bound(const Endpoint& on, int type, PortSharing sharing = PortSharing::alone);
// What binding to or listening on `on` failed with, as one of these.
Error bind_error(const Endpoint& on, int error);
// With the real port when 0 was asked for.
Result<Endpoint> bound_endpoint(const Socket& socket);

}  // namespace live::io
