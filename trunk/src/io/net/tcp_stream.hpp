// One TCP connection. After a short read or write the socket is known to be drained or full, and the next attempt waits for epoll
// instead of another system call.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/net/endpoint.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"

namespace live::io {

class TcpStream final : public Stream {
public:
    using Interest = io::Interest;
    using Ready = io::Ready;

    // Errc::timed_out, Errc::cancelled, also when `signal` (may be nullptr; consumed) is raised before the peer answers,
    // Errc::closed when the peer refuses, Errc::system.
    static Result<std::unique_ptr<TcpStream>> connect(const Endpoint& to, Deadline deadline, Signal* signal = nullptr);
    // Takes ownership of an accepted or connected non-blocking stream descriptor; `peer` is only for texts.
    explicit TcpStream(Socket socket, const Endpoint& peer) : socket_(std::move(socket)), peer_(peer) {}

    Result<std::size_t> read_some(MutBytes into, Deadline deadline) override;
    Result<void> write_all(std::span<const ::iovec> parts, Deadline deadline) override;
    Result<void> wait_readable(Deadline deadline) override;

    // The next byte, which stays in the socket. Errors as read_some.
    Result<std::uint8_t> peek(Deadline deadline);
    // As try_read; the bytes stay in the socket.
    Result<std::size_t> try_peek(MutBytes into);
    Result<std::size_t> try_read(MutBytes into) override;
    // One system call, no allocation. Looks at no more than kPartsMax parts.
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override;
    static constexpr std::size_t kPartsMax = 1024;
    // As try_write, for bytes that are followed by more at once: the kernel may wait for that (MSG_MORE).
    Result<std::size_t> try_write_ahead(Bytes bytes);
    // Sends up to `count` bytes, at least one, of an open file from `offset` on. Errc::not_found when the file ends before
    // `offset`, otherwise as try_write. Waits for the disk unless the page cache has the bytes.
    Result<std::size_t> try_send_file(int file, std::uint64_t offset, std::size_t count);
    Result<Ready> wait_ready(Interest interest, Signal* signal, Deadline deadline) override {
        return socket_.wait(interest, signal, deadline);
    }
    void coalesce_wakes() override { socket_.coalesce_wakes(); }
    // Removes the descriptor from epoll until the next wait for it: for publishers that are read on a tick.
    void forget() { socket_.forget(); }

    TcpStream* as_tcp() override { return this; }
    TcpStream* carrier() override { return this; }
    // Reports whether the last write found no more room; cleared by a wait for Interest::writable.
    bool is_full() const { return socket_.is_open() && socket_.is_blocked(Interest::writable); }

    int native_handle() const { return socket_.fd(); }
    bool is_open() const { return socket_.is_open(); }
    const Endpoint& peer_endpoint() const { return peer_; }
    // The client of a proxy: for texts and limits.
    void set_peer(Endpoint peer) { peer_ = std::move(peer); }
    std::string peer() const override { return peer_.text(); }
    std::string peer_ip() const { return peer_.ip; }
    // The local address the peer has connected to; "0.0.0.0" after close().
    std::string local_ip() const { return local_endpoint().ip; }
    Endpoint local_endpoint() const;

    Result<void> set_no_delay(bool on);
    bool no_delay() const;
    // SO_SNDBUF; the kernel doubles it for its own bookkeeping.
    Result<void> set_send_buffer(std::size_t bytes);
    // The current SO_RCVBUF, which grows automatically; half of it is the window.
    std::size_t receive_buffer() const;
    // TCP_NOTSENT_LOWAT: writable only while less than this is unsent in the kernel.
    Result<void> set_not_sent_lowat(std::size_t bytes);
    // Sends our end of stream; reads continue. Errc::system when the connection is already closed.
    Result<void> shutdown_write();
    void close() override { socket_.close(); }

private:
    template <class Call>
    Result<std::size_t> try_send(const Call& call);

    Socket socket_;
    Endpoint peer_;
};

static_assert(sizeof(TcpStream) <= 64, "ten thousand players have one each");

}  // namespace live::io
