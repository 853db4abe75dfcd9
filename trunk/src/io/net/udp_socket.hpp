// A UDP socket that receives and sends datagrams in batches: many with one system call, and GSO batches of equal-sized datagrams
// to one address that the kernel splits (UDP_SEGMENT, Linux 4.18).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/net/endpoint.hpp"
#include "base/net/transport_address.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/net/socket.hpp"

namespace live::io {

struct Datagram {
    MutBytes bytes;  // may be decrypted in place
    TransportAddress from;
    // The local address it was sent to. A reply from another one would look like a stranger's.
    IpAddress to;
    // When the kernel received it, never later than now; zero without stamp_arrivals().
    TimePoint arrived{};
};

// About what the datagrams have occupied in the kernel's receive buffer.
inline std::size_t kernel_bytes(std::span<const Datagram> datagrams) {
    constexpr std::size_t kOverhead = 1'024;
    std::size_t bytes = kOverhead * datagrams.size();
    for (const Datagram& datagram : datagrams)
        bytes += datagram.bytes.size();
    return bytes;
}

// Datagrams for one address: `segment_bytes` each, back to back; only the last may be shorter.
struct GsoBatch {
    static constexpr std::size_t kSegmentsMax = 64;
    static constexpr std::size_t kBytesMax = 65'507;

    Bytes bytes;
    // Size of one datagram, 1 or more. As long as `bytes` or longer: a single datagram.
    std::size_t segment_bytes = 0;
    TransportAddress to;
    // The local source address, not a link-local one; all zero: the kernel chooses.
    IpAddress from;
};

class UdpSocket {
public:
    static constexpr std::size_t kBatch = 64;
    // Media and DTLS datagrams fit an Ethernet frame. Longer ones are dropped and counted.
    static constexpr std::size_t kDatagramBytesMax = 2048;
    struct Inbox;

    struct Counters {
        std::uint64_t received = 0;
        std::uint64_t received_too_long = 0;
        std::uint64_t sent = 0;         // datagrams
        std::uint64_t sent_failed = 0;  // datagrams that the kernel refused, with any error
        std::uint64_t send_calls = 0;   // system calls
    };
    // In bytes, as counted by the kernel, which doubles the requested size for its own use.
    struct BufferBytes {
        std::size_t receive = 0;
        std::size_t send = 0;
    };

    // Port 0 picks a free one. An IPv6 endpoint takes IPv6 only. The kernel's buffers are raised towards `buffer_bytes` each as
    // far as this process may; buffers() returns the actual sizes. Errc::conflict when the port is taken, Errc::denied,
    // Errc::system.
    static Result<std::unique_ptr<UdpSocket>> bind(const Endpoint& on, std::size_t buffer_bytes,
                                                   PortSharing sharing = PortSharing::alone);
    UdpSocket(Socket socket, const Endpoint& endpoint);
    ~UdpSocket();
    UdpSocket(const UdpSocket&) = delete;
    UdpSocket& operator=(const UdpSocket&) = delete;

    // Joins a multicast group, for datagrams of any sender or of `source` only (RFC 3678), on the interface of that name; empty:
    // any, and the one that the system chooses. The socket is bound to the group's address. Errc::malformed for addresses that
    // have another IP version, Errc::not_found for an unknown interface, Errc::system.
    Result<void> join(const std::string& group, const std::string& source, const std::string& interface);

    // Waits for at least one datagram and takes up to kBatch. They are valid until the next call, of any socket that shares the
    // inbox. Errc::timed_out, Errc::cancelled, Errc::closed after close(), Errc::system.
    Result<std::span<const Datagram>> receive(Deadline deadline);
    // The same for datagrams that have arrived; empty without any. Never suspends.
    Result<std::span<const Datagram>> take_arrived();

    // The memory that datagrams are received into. Hundreds of sockets that are read in turns share one, which stays in the
    // cache.
    const std::shared_ptr<Inbox>& inbox() const { return inbox_; }
    void share_inbox(std::shared_ptr<Inbox> inbox) { inbox_ = std::move(inbox); }
    // Has the kernel note when each datagram arrives, for datagrams that are read some time later. Errc::system.
    Result<void> stamp_arrivals();

    // Reports whether the last read found nothing and nothing has arrived since, or receiving has stopped.
    bool is_read_dry() const { return !receives_ || !socket_.is_open() || socket_.is_blocked(Interest::readable); }

    // Suspends. Datagrams that arrive meanwhile stay in the kernel's buffer and wake no fiber, so that receive() gets them in
    // batches. Errc::cancelled.
    Result<void> gather_until(Deadline until);

    // Never suspends. Returns how many GSO batches, from the first on, were handled: fewer than all when the kernel's buffer is
    // full, and then the caller should wait_writable. A GSO batch that cannot be sent is dropped and counted: UDP may lose
    // anything.
    std::size_t send(std::span<const GsoBatch> batches);
    // Errc::timed_out, Errc::cancelled, Errc::closed.
    Result<void> wait_writable(Deadline deadline) { return socket_.wait_for(Interest::writable, deadline); }

    // With the actual port when 0 was requested.
    const Endpoint& endpoint() const { return endpoint_; }
    const Counters& counters() const { return counters_; }
    BufferBytes buffers() const;
    // Received datagrams lost because they were not taken out of the kernel's buffer in time. 0 where the kernel does not report
    // it.
    std::uint64_t lost_on_arrival() const;
    // Whether the kernel splits GSO batches. Found out by trying; off for good after the first refusal.
    bool cuts_in_kernel() const { return cuts_in_kernel_; }
    int native_handle() const { return socket_.fd(); }
    void close() { socket_.close(); }
    // receive() ends with Errc::closed from now on, and arriving datagrams stay in the kernel; sending continues.
    void stop_receiving();

private:
    struct Outbox;

    Result<std::size_t> try_receive();
    std::size_t handle_refusal(const GsoBatch& first, int error);
    bool send_cut(const GsoBatch& gso);

    Socket socket_;
    Endpoint endpoint_;
    bool is_ipv6_;
    bool cuts_in_kernel_ = true;
    bool receives_ = true;
    bool stamps_ = false;  // arrivals
    // Bound to one address: datagrams come and go by it. Asking for it or setting it costs the kernel time for each datagram.
    std::optional<IpAddress> only_address_;
    Signal stopped_;
    Counters counters_;
    std::shared_ptr<Inbox> inbox_;  // owners: this socket, and those that share it
    std::unique_ptr<Outbox> outbox_;
};

}  // namespace live::io
