// Types common to both directions of a WebSocket (RFC 6455, 5.2 and 7.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "wire/websocket/frame_head.hpp"

namespace live::engine::websocket {

using wire::websocket::Opcode;

constexpr bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

inline constexpr std::size_t kControlBytesMax = 125;

// The reason a connection ends, as in the close frame.
enum class CloseCode : std::uint16_t {
    normal = 1000,
    going_away = 1001,
    protocol_error = 1002,
    unsupported_data = 1003,
    invalid_text = 1007,
    policy = 1008,
    too_big = 1009,
    internal_error = 1011,
};

struct Message {
    Opcode kind = Opcode::binary;  // text, binary or one of the control frames
    std::string payload;           // of a close frame: the code and reason as received

    bool operator==(const Message&) const = default;
};

}  // namespace live::engine::websocket
