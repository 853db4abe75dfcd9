// Sends what a cursor has to a TCP player, without suspending.
#pragma once

#include <cstdint>

#include "io/tcp_stream.hpp"
#include "media/wire_cursor.hpp"

namespace live::session {

enum class Flushed : std::uint8_t {
    all,   // the player has everything
    full,  // the socket takes no more now; the cursor lags
    gone,  // the connection has ended
};

// Adds to `sent_bytes` what the socket took.
Flushed flush(io::TcpStream& stream, media::WireCursor& cursor, std::uint64_t& sent_bytes);

}  // namespace live::session
