#include "media/framing.hpp"

#include <charconv>

#include "base/check.hpp"

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
    constexpr std::uint8_t kFinalBinary = 0x82;
    constexpr std::size_t kShortMax = 125;
    FrameHead head;
    const std::size_t length_bytes = message_bytes <= kShortMax ? 0 : message_bytes <= 0xFFFF ? 2 : 8;
    head.bytes[head.size++] = kFinalBinary;
    head.bytes[head.size++] =
        static_cast<std::uint8_t>(length_bytes == 0 ? message_bytes : kShortMax + (length_bytes == 2 ? 1 : 2));
    for (std::size_t i = length_bytes; i-- > 0;)
        head.bytes[head.size++] = static_cast<std::uint8_t>(std::uint64_t{message_bytes} >> (8 * i));
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
