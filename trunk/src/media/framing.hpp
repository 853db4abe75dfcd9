// Framing: what HTTP puts around each message of a log, so that the framed bytes are shared by all readers too: a chunk of a
// chunked body (RFC 9112, 7.1) or an unmasked binary WebSocket message (RFC 6455, 5.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"

namespace live::media {

enum class Framing : std::uint8_t { none, http_chunk, websocket };

struct FrameHead {
    std::array<std::uint8_t, 18> bytes{};
    std::uint8_t size = 0;

    Bytes view() const { return Bytes(bytes).first(size); }
};

// What goes before a message of `message_bytes`, which must not be zero.
FrameHead frame_head(Framing framing, std::size_t message_bytes);
// What goes behind it.
Bytes frame_end(Framing framing);
// Appends a message with both around it; nothing when it is empty.
void append_framed(Framing framing, Bytes message, std::vector<std::uint8_t>& out);

}  // namespace live::media
