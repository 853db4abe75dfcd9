#include "media/wire_log/framing.hpp"

#include <algorithm>
#include <charconv>

#include "base/check.hpp"
#include "wire/websocket/frame_head.hpp"

namespace live::media {

namespace {

constexpr std::array<std::uint8_t, 2> kLineEnd = {'\r', '\n'};

FrameHead chunk_head(std::size_t message_bytes) {
    FrameHead head;
    std::array<char, 16> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), message_bytes, 16).ptr;
    for (const char* digit = digits.data(); digit != end; ++digit)
        head.bytes[head.size++] = static_cast<std::uint8_t>(*digit);
    for (const std::uint8_t byte : kLineEnd)
        head.bytes[head.size++] = byte;
    return head;
}

FrameHead websocket_head(std::size_t message_bytes) {
    const auto written = wire::websocket::frame_head(message_bytes, wire::websocket::Opcode::binary);
    FrameHead head;
    copy_bytes(written.view(), head.bytes);
    head.size = written.size;
    return head;
}

}  // namespace

FrameHead frame_head(Framing framing, std::size_t message_bytes) {
    CHECK(message_bytes > 0);
    switch (framing) {
        case Framing::http_chunk: return chunk_head(message_bytes);
        case Framing::websocket: return websocket_head(message_bytes);
        case Framing::none: break;
    }
    return {};
}

Bytes frame_end(Framing framing) { return framing == Framing::http_chunk ? Bytes(kLineEnd) : Bytes(); }

void append_framed(Framing framing, Bytes message, std::vector<std::uint8_t>& out) {
    if (message.empty())
        return;
    const FrameHead head = frame_head(framing, message.size());
    for (const Bytes part : {head.view(), message, frame_end(framing)})
        out.insert(out.end(), part.begin(), part.end());
}

}  // namespace live::media
