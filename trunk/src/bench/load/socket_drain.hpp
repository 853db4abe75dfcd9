// Discards the data of many sockets at the lowest cost: one fiber polls all of them every 5 ms, and the kernel drops the
// bytes without a copy (MSG_TRUNC, tcp(7)). For thousands of players that only count: waking a fiber for each costs the load more
// than the read itself, and the wake-up costs the sending server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::bench {

// The owner of a drained connection. No function may suspend, or join or leave the drain.
class DrainMember {
public:
    virtual void on_bytes(std::size_t count) = 0;
    // The connection has ended and is not polled: 0 for the end of the peer's bytes, or an errno.
    virtual void on_end(int error) = 0;

protected:
    ~DrainMember() = default;
};

class SocketDrain {
public:
    static constexpr std::chrono::milliseconds kTick{5};
    static constexpr std::size_t kEventsMax = 1'024;  // then other fibers run

    enum class Kind : std::uint8_t { stream, datagrams };

    // Adds a non-blocking socket that no other fiber reads: a connected TCP socket, or a UDP one. It and `member` must exist
    // until leave(). Errc::system.
    Result<void> join(int fd, DrainMember& member, Kind kind = Kind::stream);
    void leave(int fd);
    // Runs until it is cancelled. Waits for the first member.
    void run(io::Deadline deadline);

private:
    struct Member {
        DrainMember* owner = nullptr;
        Kind kind = Kind::stream;
    };

    bool look();
    // One read takes all that an open stream has.
    static bool read_all(int fd, const Member& member, bool has_ended);

    io::Socket epoll_;             // polled, not waited for
    std::vector<Member> members_;  // by descriptor
    Signal joined_;
};

}  // namespace live::bench
