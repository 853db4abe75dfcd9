#include "session/common/flush.hpp"

#include <array>

namespace live::session {

Flushed flush(io::TcpStream& stream, media::WireCursor& cursor, std::uint64_t& sent_bytes) {
    std::array<::iovec, 64> parts;
    for (std::size_t flushed = 0;;) {
        const auto batch = cursor.take(parts);
        if (batch.bytes == 0)
            return Flushed::all;
        const auto sent = stream.try_write(std::span(parts).first(batch.spans));
        if (!sent.ok())
            return Flushed::gone;
        cursor.advance(*sent);
        sent_bytes += *sent;
        flushed += *sent;
        if (*sent < batch.bytes || flushed >= kFlushedMax)
            return Flushed::full;
    }
}

}  // namespace live::session
