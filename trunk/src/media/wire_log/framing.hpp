// Framing: the HTTP framing around each message of a log, so that all readers share the framed bytes too: a chunk of a chunked
// body (RFC 9112, 7.1) or an unmasked binary WebSocket message (RFC 6455, 5.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::media {

enum class Framing : std::uint8_t { none, http_chunk, websocket };

struct FrameHead {
    std::array<std::uint8_t, 18> bytes{};
    std::uint8_t size = 0;

    Bytes view() const { return Bytes(bytes).first(size); }
};

// Goes before a message of `message_bytes`, which must not be zero.
FrameHead frame_head(Framing framing, std::size_t message_bytes);
// Goes after it.
Bytes frame_end(Framing framing);
// Appends a framed message; nothing if it is empty.
void append_framed(Framing framing, Bytes message, std::vector<std::uint8_t>& out);

}  // namespace live::media
