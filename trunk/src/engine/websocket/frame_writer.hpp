// Control frames sent by a server (RFC 6455, 5.5); data frames are in wire/websocket.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

// Whole control frames. A ping or pong payload above kControlBytesMax aborts; a longer reason is truncated.
std::vector<std::uint8_t> control_frame(Opcode opcode, Bytes payload);
std::vector<std::uint8_t> close_frame(CloseCode code, std::string_view reason = {});

// The required answer to a message: a pong for a ping, a close with the same code for a close. Nothing for others.
std::optional<std::vector<std::uint8_t>> answer_to(const Message& message);

}  // namespace live::engine::websocket
