#include "engine/websocket/frame_writer.hpp"

#include <algorithm>
#include <string>

#include "base/check.hpp"

namespace live::engine::websocket {

std::vector<std::uint8_t> control_frame(Opcode opcode, Bytes payload) {
    CHECK(is_control(opcode) && payload.size() <= kControlBytesMax);
    const auto head = wire::websocket::frame_head(payload.size(), opcode);
    std::vector<std::uint8_t> frame(head.view().begin(), head.view().end());
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
}

std::vector<std::uint8_t> masked_control_frame(Opcode opcode, Bytes payload, std::uint32_t mask) {
    constexpr std::size_t kHeadBytes = 2;
    std::vector<std::uint8_t> frame = control_frame(opcode, payload);
    for (std::size_t i = 0; i < payload.size(); ++i)
        frame[kHeadBytes + i] ^= static_cast<std::uint8_t>(mask >> (24 - 8 * (i % 4)));
    frame[1] |= 0x80;
    const std::uint8_t key[] = {static_cast<std::uint8_t>(mask >> 24), static_cast<std::uint8_t>(mask >> 16),
                                static_cast<std::uint8_t>(mask >> 8), static_cast<std::uint8_t>(mask)};
    frame.insert(frame.begin() + kHeadBytes, std::begin(key), std::end(key));
    return frame;
}

std::vector<std::uint8_t> close_frame(CloseCode code, std::string_view reason) {
    const auto number = static_cast<std::uint16_t>(code);
    std::string payload = {static_cast<char>(number >> 8), static_cast<char>(number & 0xFF)};
    // Must not cut inside a UTF-8 character.
    std::size_t length = std::min(reason.size(), kControlBytesMax - payload.size());
    while (length > 0 && length < reason.size() && (static_cast<unsigned char>(reason[length]) & 0xC0) == 0x80)
        --length;
    payload += reason.substr(0, length);
    return control_frame(Opcode::close, as_bytes(payload));
}

std::optional<std::vector<std::uint8_t>> answer_to(const Message& message) {
    if (message.kind == Opcode::ping)
        return control_frame(Opcode::pong, as_bytes(message.payload));
    if (message.kind == Opcode::close)  // RFC 6455, 5.5.1: echoes the code; the reason may be omitted.
        return control_frame(Opcode::close, as_bytes(message.payload).first(std::min<std::size_t>(message.payload.size(), 2)));
    return std::nullopt;
}

}  // namespace live::engine::websocket
