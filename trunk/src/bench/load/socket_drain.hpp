// Throws away what comes on many TCP connections as cheaply as the kernel allows: one fiber looks at all of them every 5 ms, and
// the kernel drops the bytes without copying them (MSG_TRUNC, tcp(7)). For thousands of players that only count: waking a fiber
// for each costs the load more than the read itself, and the wake-up costs the server that sends.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::bench {

// A connection that is drained. Nothing here may suspend, or join or leave the drain.
class DrainMember {
public:
    virtual void on_bytes(std::size_t count) = 0;
    // Nothing comes any more and nobody looks: the end of the peer's bytes (0), or an errno.
    virtual void on_end(int error) = 0;

protected:
    ~DrainMember() = default;
};

class SocketDrain {
public:
    static constexpr std::chrono::milliseconds kTick{5};
    static constexpr std::size_t kEventsMax = 1'024;  // then others run

    // A connected, non-blocking TCP socket that nobody else waits for to read. It and `member` stay until leave(). Errc::system.
    Result<void> join(int fd, DrainMember& member);
    void leave(int fd);
    // Until it is cancelled. Without members it only waits for the first.
    void run(io::Deadline deadline);

private:
    bool look();
    static bool read_all(int fd, bool has_ended, DrainMember& member);

    io::Socket epoll_;                   // not waited for, only asked
    std::vector<DrainMember*> members_;  // by descriptor
    Signal joined_;
};

}  // namespace live::bench
