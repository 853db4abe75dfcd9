// A byte stream with a peer at its other end: TCP, or TLS over it.
#pragma once

#include <cstddef>
#include <span>

#include <sys/uio.h>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "io/deadline.hpp"

namespace live::io {

class Stream {
public:
    virtual ~Stream() = default;

    // At least one byte, as many as there are. `into` is touched only after the last suspension, so that all fibers of the loop may
    // share one buffer. Errc::closed at the end of the peer's bytes, Errc::timed_out, Errc::cancelled, Errc::system.
    virtual Result<std::size_t> read_some(MutBytes into, Deadline deadline) = 0;

    // Everything, or an error after which an unknown part has been sent.
    virtual Result<void> write_all(std::span<const ::iovec> parts, Deadline deadline) = 0;

    // Until a read would give bytes, the end, or an error. Errc::timed_out, Errc::cancelled.
    virtual Result<void> wait_readable(Deadline deadline) = 0;
};

// One part for write_all.
inline ::iovec as_part(Bytes bytes) { return {const_cast<std::uint8_t*>(bytes.data()), bytes.size()}; }

}  // namespace live::io
