// What a server says on a WebSocket besides its messages (RFC 6455, 5.5); what goes around those is wire/websocket's.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

// Whole control frames. A ping's or pong's payload above kControlBytesMax aborts; a reason is cut.
std::vector<std::uint8_t> control_frame(Opcode opcode, Bytes payload);
std::vector<std::uint8_t> close_frame(CloseCode code, std::string_view reason = {});

// What must be sent back for a message: a pong for a ping, the same close for a close. Nothing for others.
std::optional<std::vector<std::uint8_t>> answer_to(const Message& message);

}  // namespace live::engine::websocket
