// Sends pending data of a cursor to a player over TCP or TLS, without suspending.
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/net/stream.hpp"
#include "media/source/wire_cursor.hpp"

namespace live::session {

enum class Flushed : std::uint8_t {
    all,   // the player has everything
    full,  // the socket accepts no more now, or has accepted much; the cursor lags, or the stream holds output
    gone,  // the connection has ended
};

// Sent at once: a client that reads as fast as it is sent to would get 10 MiB in one turn of the loop.
inline constexpr std::size_t kFlushedMax = 1U << 20;

// Adds the bytes taken by the stream to `sent_bytes`.
Flushed flush(io::Stream& stream, media::WireCursor& cursor, std::uint64_t& sent_bytes);

}  // namespace live::session
