#include "session/fan_out/flush.hpp"

#include <array>
#include <span>

namespace live::session {

Flushed flush(io::Stream& stream, media::WireCursor& cursor, std::uint64_t& sent_bytes) {
    std::array<::iovec, 64> parts;
    for (std::size_t flushed = 0;;) {
        const auto batch = cursor.take(parts);
        if (batch.bytes == 0)
            return stream.holds_output() ? Flushed::full : Flushed::all;
        const auto some = io::first_bytes(std::span(parts).first(batch.spans), kFlushedMax - flushed);
        const auto sent = stream.try_write(some);
        if (!sent.ok())
            return Flushed::gone;
        cursor.advance(*sent);
        sent_bytes += *sent;
        flushed += *sent;
        if (*sent == 0 || flushed == kFlushedMax)
            return Flushed::full;
    }
}

}  // namespace live::session
