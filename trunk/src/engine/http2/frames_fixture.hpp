// Frames of an HTTP/2 client, for tests and the fuzzer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace live::engine::http2 {

inline constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// RFC 9113, 6.
enum class FrameType : std::uint8_t {
    data = 0,
    headers = 1,
    priority = 2,
    reset = 3,
    settings = 4,
    push = 5,
    ping = 6,
    goaway = 7,
    window = 8,
    continuation = 9,
};
inline constexpr std::uint8_t kEndStream = 0x1;
inline constexpr std::uint8_t kEndHeaders = 0x4;

inline std::string number32(std::uint32_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8)
        text += static_cast<char>(value >> shift & 0xff);
    return text;
}

// RFC 9113, 4.1.
inline std::string frame(FrameType type, std::uint8_t flags, std::uint32_t stream, std::string_view payload = {}) {
    std::string text = number32(static_cast<std::uint32_t>(payload.size())).substr(1);
    text += static_cast<char>(type);
    text += static_cast<char>(flags);
    return text + number32(stream) + std::string(payload);
}

// RFC 7541, 6.2.2 and 5.2: without an index, without Huffman.
inline std::string field(std::string_view name, std::string_view value) {
    const auto length = [](std::size_t size) {
        return size < 127
                   ? std::string(1, static_cast<char>(size))
                   : std::string{static_cast<char>(127), static_cast<char>((size - 127) % 128 + 128),
                                 static_cast<char>((size - 127) / 128 % 128 + 128), static_cast<char>((size - 127) / 128 / 128)};
    };
    return std::string(1, '\0') + length(name.size()) + std::string(name) + length(value.size()) + std::string(value);
}

// RFC 7541, appendix A: GET, https, and the authority "h".
inline std::string get_fields(std::string_view path) { return "\x82\x87" + field(":path", path) + field(":authority", "h"); }

inline std::string get(std::uint32_t stream, std::string_view path = "/") {
    return frame(FrameType::headers, kEndStream | kEndHeaders, stream, get_fields(path));
}

inline std::string post(std::uint32_t stream, std::string_view body) {
    const std::string fields =
        "\x83\x87" + field(":path", "/in") + field(":authority", "h") + field("content-length", std::to_string(body.size()));
    return frame(FrameType::headers, kEndHeaders, stream, fields) + frame(FrameType::data, kEndStream, stream, body);
}

inline std::string greeting() { return std::string(kPreface) + frame(FrameType::settings, 0, 0); }

}  // namespace live::engine::http2
