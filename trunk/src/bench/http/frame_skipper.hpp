// Reads the WebSocket frames of a server on the client's side (RFC 6455, 5): unmasked frames, whose payload is passed on as it
// arrives, in pieces borrowed from the input. engine/websocket reads the other direction, into messages.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/websocket/frame.hpp"

namespace live::bench {

class FrameSkipper {
public:
    // A piece of a binary or text message, or the whole payload of a control frame. Valid until the next read().
    struct Piece {
        engine::websocket::Opcode opcode = engine::websocket::Opcode::binary;
        Bytes payload;
    };

    // Takes bytes from the front of `input`; returns nothing when they are used up. Errc::malformed, final: reserved bits, masked
    // frames, unknown opcodes, control frames that are long or fragmented.
    Result<std::optional<Piece>> read(Bytes& input);

private:
    static constexpr std::size_t kHeadBytesMax = 10;

    std::size_t head_bytes_wanted() const;
    Result<void> begin_payload();
    std::optional<Piece> take_payload(Bytes& input);

    std::array<std::uint8_t, kHeadBytesMax> head_{};
    std::array<std::uint8_t, engine::websocket::kControlBytesMax> control_{};
    std::size_t head_bytes_ = 0;
    std::size_t control_bytes_ = 0;
    std::uint64_t left_ = 0;
    engine::websocket::Opcode opcode_ = engine::websocket::Opcode::continuation;  // of the frame
    engine::websocket::Opcode message_ = engine::websocket::Opcode::binary;       // of the message it belongs to
    bool in_payload_ = false;
};

// A whole frame as a client sends it: masked, final. At most engine::websocket::kControlBytesMax bytes of payload (aborts above).
std::vector<std::uint8_t> client_frame(engine::websocket::Opcode opcode, Bytes payload, std::uint32_t mask);

}  // namespace live::bench
