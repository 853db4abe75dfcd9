// A byte stream to a peer: TCP, or TLS over it. Two ways to use it: read_some and write_all suspend the fiber; try_read,
// try_write and wait_ready let a session wait for several things at once.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <sys/uio.h>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/net/socket.hpp"

namespace live::io {

class TcpStream;
class TlsStream;

class Stream {
public:
    virtual ~Stream() = default;

    // Reads at least one byte, and as many as are available. `into` is touched only after the last suspension, so all fibers of
    // the loop may share one buffer. Errc::closed at the end of the peer's bytes, Errc::timed_out, Errc::cancelled, Errc::system.
    virtual Result<std::size_t> read_some(MutBytes into, Deadline deadline) = 0;
    // Writes everything, or fails after an unknown part has been sent. Errc::closed when the peer is gone, Errc::timed_out,
    // Errc::cancelled, Errc::system.
    virtual Result<void> write_all(std::span<const ::iovec> parts, Deadline deadline) = 0;
    // Waits until a read would return bytes, the end, or an error. Errc::timed_out, Errc::cancelled.
    virtual Result<void> wait_readable(Deadline deadline) = 0;

    // Among these three only wait_ready suspends. Errc::need_more when nothing is available, Errc::closed at the end of the
    // peer's bytes.
    virtual Result<std::size_t> try_read(MutBytes into) = 0;
    // Bytes taken, starting with the first part: 0 when no more fit. Errc::closed when the peer is gone.
    virtual Result<std::size_t> try_write(std::span<const ::iovec> parts) = 0;
    // Reports whether bytes that try_write took are not in the kernel yet: over TLS, ciphertext of a full socket. wait_ready
    // sends it while it waits.
    virtual bool holds_output() const { return false; }
    // Waits for any of: a direction, `signal` (may be nullptr; consumed), the deadline. Errc::cancelled, Errc::closed when
    // close() is called meanwhile.
    virtual Result<Ready> wait_ready(Interest interest, Signal* signal, Deadline deadline) = 0;

    // From now on the fiber may be woken up to 5 ms late, together with others, while the loop has many such fibers: for peers
    // that send occasionally, not constantly.
    virtual void coalesce_wakes() = 0;

    // The peer's address as "ip:port".
    virtual std::string peer() const = 0;
    // This stream if it is plain TCP, or TLS over TCP; otherwise nullptr.
    virtual TcpStream* as_tcp() { return nullptr; }
    virtual TlsStream* as_tls() { return nullptr; }
    // The TCP stream whose socket carries this one, for the socket's options: this, or that below TLS; otherwise nullptr.
    virtual TcpStream* carrier() { return nullptr; }
    // A waiting fiber wakes with Errc::closed. Data not yet taken by the kernel is discarded.
    virtual void close() = 0;
};

// One part for write_all and try_write.
inline ::iovec as_part(Bytes bytes) { return {const_cast<std::uint8_t*>(bytes.data()), bytes.size()}; }

// At most the first `bytes` of the parts; shortens the last of them.
inline std::span<::iovec> first_bytes(std::span<::iovec> parts, std::size_t bytes) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].iov_len >= bytes) {
            parts[i].iov_len = bytes;
            return parts.first(i + 1);
        }
        bytes -= parts[i].iov_len;
    }
    return parts;
}

}  // namespace live::io
