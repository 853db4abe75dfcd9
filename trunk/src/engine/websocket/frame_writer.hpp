// Control frames (RFC 6455, 5.5); data frames are in wire/websocket.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

// Whole control frames of a server. A ping or pong payload above kControlBytesMax aborts; a longer reason is truncated.
std::vector<std::uint8_t> control_frame(Opcode opcode, Bytes payload);
std::vector<std::uint8_t> close_frame(CloseCode code, std::string_view reason = {});

// A whole control frame of a client: masked. A longer payload aborts.
std::vector<std::uint8_t> masked_control_frame(Opcode opcode, Bytes payload, std::uint32_t mask);

// The required answer to a message: a pong for a ping, a close with the same code for a close. Nothing for others.
std::optional<std::vector<std::uint8_t>> answer_to(const Message& message);

}  // namespace live::engine::websocket
