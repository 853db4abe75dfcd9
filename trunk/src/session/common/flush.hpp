// Sends pending data of a cursor to a TCP player, without suspending.
#pragma once

#include <cstdint>

#include "io/tcp_stream.hpp"
#include "media/wire_cursor.hpp"

namespace live::session {

enum class Flushed : std::uint8_t {
    all,   // the player has everything
    full,  // the socket takes no more now; the cursor lags behind
    gone,  // the connection has ended
};

// Adds the bytes taken by the socket to `sent_bytes`.
Flushed flush(io::TcpStream& stream, media::WireCursor& cursor, std::uint64_t& sent_bytes);

}  // namespace live::session
