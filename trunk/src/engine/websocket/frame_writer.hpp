// What a server sends on a WebSocket (RFC 6455, 5): unmasked frames, never in pieces.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

struct FrameHead {
    static constexpr std::size_t kBytesMax = 10;

    std::array<std::uint8_t, kBytesMax> storage{};
    std::uint8_t size = 0;

    Bytes view() const { return Bytes(storage).first(size); }
};

// What stands in front of a message of that many bytes.
FrameHead frame_head(std::uint64_t payload_bytes, Opcode opcode);

// Whole control frames. A ping's or pong's payload above kControlBytesMax aborts; a reason is cut.
std::vector<std::uint8_t> control_frame(Opcode opcode, Bytes payload);
std::vector<std::uint8_t> close_frame(CloseCode code, std::string_view reason = {});

// What must be sent back for a message: a pong for a ping, the same close for a close. Nothing for others.
std::optional<std::vector<std::uint8_t>> answer_to(const Message& message);

}  // namespace live::engine::websocket
