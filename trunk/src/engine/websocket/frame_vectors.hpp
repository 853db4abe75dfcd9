// Named frames as sent by a client, shared by tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

struct FrameVector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    std::vector<Message> messages;
};

// One masked frame with the shortest length encoding.
inline std::vector<std::uint8_t> client_frame(std::uint8_t first, std::string_view payload) {
    constexpr std::uint8_t kMask[] = {0x37, 0xFA, 0x21, 0x3D};
    std::vector<std::uint8_t> out = {first};
    const auto size = payload.size();
    const unsigned more = size < 126 ? 0 : size <= 0xFFFF ? 2 : 8;
    out.push_back(static_cast<std::uint8_t>(0x80 | (more == 0 ? size : more == 2 ? 126 : 127)));
    for (unsigned i = more; i-- > 0;)
        out.push_back(static_cast<std::uint8_t>(std::uint64_t{size} >> (8 * i)));
    out.insert(out.end(), std::begin(kMask), std::end(kMask));
    for (std::size_t i = 0; i < size; ++i)
        out.push_back(static_cast<std::uint8_t>(static_cast<unsigned char>(payload[i]) ^ kMask[i % 4]));
    return out;
}

inline std::vector<std::uint8_t> together(std::vector<std::vector<std::uint8_t>> parts) {
    std::vector<std::uint8_t> out;
    for (const auto& part : parts)
        out.insert(out.end(), part.begin(), part.end());
    return out;
}

inline const std::vector<FrameVector>& frame_vectors() {
    using enum Opcode;
    static const std::vector<FrameVector> table = {
        // The masked examples of RFC 6455, 5.7.
        {"the text's masked Hello", hex("81 85 37fa213d 7f9f4d5158"), {{text, "Hello"}}},
        {"the text's masked pong", hex("8a 85 37fa213d 7f9f4d5158"), {{pong, "Hello"}}},
        {"empty binary", hex("82 80 01020304"), {{binary, ""}}},
        {"empty fragments", hex("01 80 00000000 00 80 00000000 80 80 00000000"), {{text, ""}}},
        {"fragments", together({client_frame(0x01, "Hel"), client_frame(0x80, "lo")}), {{text, "Hello"}}},
        {"a character in two fragments",
         together({client_frame(0x01, "\xE2\x82"), client_frame(0x80, "\xAC")}),
         {{text, "\xE2\x82\xAC"}}},
        {"a ping between fragments",
         together({client_frame(0x02, "He"), client_frame(0x89, "?"), client_frame(0x00, "ll"), client_frame(0x8A, ""),
                   client_frame(0x80, "o")}),
         {{ping, "?"}, {pong, ""}, {binary, "Hello"}}},
        {"125 bytes", client_frame(0x82, std::string(125, 'x')), {{binary, std::string(125, 'x')}}},
        {"126 bytes", client_frame(0x82, std::string(126, 'x')), {{binary, std::string(126, 'x')}}},
        {"300 bytes", client_frame(0x82, std::string(300, 'x')), {{binary, std::string(300, 'x')}}},
        {"the longest ping", client_frame(0x89, std::string(125, 'x')), {{ping, std::string(125, 'x')}}},
        {"close without a word", client_frame(0x88, ""), {{close, ""}}},
        {"close, and then noise",
         together({client_frame(0x88,
                                "\x03\xE8"
                                "bye"),
                   {0xFF, 0xFF, 0xFF}}),
         {{close,
           "\x03\xE8"
           "bye"}}},
        {"close with a code of the application's", client_frame(0x88, "\x0F\xA0"), {{close, "\x0F\xA0"}}},
    };
    return table;
}

}  // namespace live::engine::websocket
