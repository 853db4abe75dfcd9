// A UDP socket that takes and gives datagrams in batches: many with one system call, and GSO batches of equal datagrams to one
// address that the kernel cuts apart (UDP_SEGMENT, Linux 4.18).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/bytes.hpp"
#include "base/endpoint.hpp"
#include "base/transport_address.hpp"
#include "io/socket.hpp"

namespace live::io {

struct Datagram {
    MutBytes bytes;  // may be decrypted where they are
    TransportAddress from;
    // Which of this machine's addresses it was sent to. An answer from another one would look like a stranger's.
    IpAddress to;
};

// What goes to one address at once: datagrams of `segment_bytes` each, back to back; only the last may be shorter.
struct GsoBatch {
    static constexpr std::size_t kSegmentsMax = 64;
    static constexpr std::size_t kBytesMax = 65'507;

    Bytes bytes;
    // Of each datagram, 1 or more. As long as `bytes` or longer: one datagram.
    std::size_t segment_bytes = 0;
    TransportAddress to;
    // The address of this machine to send from, not a link-local one; all zero: the kernel chooses.
    IpAddress from;
};

class UdpSocket {
public:
    static constexpr std::size_t kBatch = 64;
    // What media and DTLS send fits an Ethernet frame. Longer datagrams are dropped and counted.
    static constexpr std::size_t kDatagramBytesMax = 2048;

    struct Counters {
        std::uint64_t received = 0;
        std::uint64_t received_too_long = 0;
        std::uint64_t sent = 0;         // datagrams
        std::uint64_t sent_failed = 0;  // datagrams that the kernel refused, by whatever error
        std::uint64_t send_calls = 0;   // system calls
    };
    // In bytes, as the kernel counts them: about twice of what was asked for is its own use.
    struct BufferBytes {
        std::size_t receive = 0;
        std::size_t send = 0;
    };

    // Port 0 picks a free one. An IPv6 endpoint takes IPv6 only. The kernel's buffers are raised towards `buffer_bytes` each as
    // far as this process may; buffers() tells how far that was. Errc::conflict when the port is taken, Errc::denied,
    // Errc::system.
    static Result<std::unique_ptr<UdpSocket>> bind(const Endpoint& on, std::size_t buffer_bytes,
                                                   PortSharing sharing = PortSharing::alone);
    UdpSocket(Socket socket, const Endpoint& endpoint);
    ~UdpSocket();
    UdpSocket(const UdpSocket&) = delete;
    UdpSocket& operator=(const UdpSocket&) = delete;

    // Waits for at least one datagram and takes up to kBatch. They are valid until the next call. Errc::timed_out,
    // Errc::cancelled, Errc::closed after close(), Errc::system.
    Result<std::span<const Datagram>> receive(Deadline deadline);

    // Never suspends. How many GSO batches, from the first on, it has dealt with: fewer than all when the kernel's buffer is
    // full, and then wait_writable is the thing to do. A GSO batch that cannot be sent is dropped and counted: UDP may lose
    // anything.
    std::size_t send(std::span<const GsoBatch> batches);
    // Errc::timed_out, Errc::cancelled, Errc::closed.
    Result<void> wait_writable(Deadline deadline) { return socket_.wait_for(Interest::writable, deadline); }

    // With the real port when 0 was asked for.
    const Endpoint& endpoint() const { return endpoint_; }
    const Counters& counters() const { return counters_; }
    BufferBytes buffers() const;
    // Datagrams that came and were lost here, because nobody took them out of the kernel's buffer in time. 0 where the kernel
    // does not say.
    std::uint64_t lost_on_arrival() const;
    // Whether GSO batches go out whole. Found out by trying; off for good after the first refusal.
    bool cuts_in_kernel() const { return cuts_in_kernel_; }
    int native_handle() const { return socket_.fd(); }
    void close() { socket_.close(); }

private:
    struct Inbox;
    struct Outbox;

    Result<std::size_t> try_receive();
    std::size_t send_whole(std::span<const GsoBatch> batches);
    bool send_cut(const GsoBatch& gso);

    Socket socket_;
    Endpoint endpoint_;
    bool is_ipv6_;
    bool cuts_in_kernel_ = true;
    Counters counters_;
    std::unique_ptr<Inbox> inbox_;
    std::unique_ptr<Outbox> outbox_;
};

}  // namespace live::io
