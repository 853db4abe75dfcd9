// What the floors of WebRTC and SRT share: UDP sockets on loopback, messages that the kernel cuts (UDP_SEGMENT), datagrams read
// in batches, and bench.py's words. A missing resource ends the program, as in common.hpp.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

constexpr std::size_t kBatch = 64;

struct Counters {
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
    std::uint64_t messages = 0;
    std::uint64_t refused = 0;  // Messages that the kernel did not take.
    std::uint64_t missing = 0;  // Packets that a player did not get in order.
};

sockaddr_in loopback(std::uint16_t port);

// Non-blocking, with buffers of that size in both directions.
int udp_socket(int buffer_bytes);
int bound_socket(std::uint16_t port, int buffer_bytes);
int connected_socket(std::uint16_t port, int buffer_bytes);

// Up to kBatch messages, sent by one system call. UDP may lose anything: what the kernel does not take is counted, and nobody
// waits.
class MessageBatch {
public:
    bool is_full() const { return count_ == kBatch; }
    // `bytes` and `to` stay where they are until send(). `segment`: the kernel cuts it into datagrams of that size; 0: it is one.
    void add(sockaddr_in& to, std::uint8_t* bytes, std::size_t size, std::size_t segment);
    void send(int fd, Counters& counters);

private:
    std::size_t count_ = 0;
    mmsghdr list_[kBatch]{};
    iovec parts_[kBatch]{};
    alignas(cmsghdr) unsigned char control_[kBatch][CMSG_SPACE(sizeof(std::uint16_t))]{};
};

// The addresses of the first `clients` peers that send a datagram, in order; prints "ready".
std::vector<sockaddr_in> learn_peers(int fd, std::size_t clients);

// Sockets of `clients` peers, whose first datagram is sent: the other end of learn_peers().
std::vector<int> join_floor(std::uint16_t port, std::size_t clients, int buffer_bytes);

struct Inbox {
    std::uint8_t bytes[kBatch][2048];
    iovec parts[kBatch];
    mmsghdr messages[kBatch];

    Inbox();
    // Returns the number of datagrams; negative without any.
    int receive(int fd) { return recvmmsg(fd, messages, kBatch, MSG_DONTWAIT, nullptr); }
    // Calls `take(index)` for each datagram until the socket is empty.
    template <class Take>
    void drain(int fd, const Take& take) {
        for (int count = static_cast<int>(kBatch); count == static_cast<int>(kBatch);) {
            count = receive(fd);
            for (int i = 0; i < count; ++i)
                take(i);
        }
    }
};

// What bench.py says on standard input: mark begins a window, report tells what came in it.
class Words {
public:
    Words();
    // False when it says quit, or has gone.
    bool take(const Counters& all);

private:
    Counters mark_;
    double marked_at_ = 0;
};

}  // namespace bench
