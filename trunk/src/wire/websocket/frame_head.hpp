// The header of a WebSocket frame sent by a server (RFC 6455, 5.2): unmasked, never fragmented. Reading and answering frames is
// in engine/websocket.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::wire::websocket {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

struct FrameHead {
    static constexpr std::size_t kBytesMax = 10;

    std::array<std::uint8_t, kBytesMax> storage{};
    std::uint8_t size = 0;

    Bytes view() const { return Bytes(storage).first(size); }
};

// The header for a payload of that many bytes, with the shortest length encoding.
FrameHead frame_head(std::uint64_t payload_bytes, Opcode opcode);

}  // namespace live::wire::websocket
