#include "wire/websocket/frame_head.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::websocket {
namespace {

using enum Opcode;

std::vector<std::uint8_t> bytes_of(const FrameHead& head) { return {head.view().begin(), head.view().end()}; }

TEST(WebSocketFrameHead, WritesTheShortestLength) {
    struct Case {
        std::uint64_t bytes;
        Opcode opcode;
        std::vector<std::uint8_t> wanted;
    };
    const Case cases[] = {
        {0, binary, hex("82 00")},
        {5, text, hex("81 05")},
        {125, binary, hex("82 7d")},
        {126, binary, hex("82 7e 007e")},
        {256, binary, hex("82 7e 0100")},  // RFC 6455, 5.7
        {65'535, binary, hex("82 7e ffff")},
        {65'536, binary, hex("82 7f 0000000000010000")},  // RFC 6455, 5.7
        {std::uint64_t{1} << 40, binary, hex("82 7f 0000010000000000")},
    };
    for (const Case& wanted : cases)
        EXPECT_EQ(bytes_of(frame_head(wanted.bytes, wanted.opcode)), wanted.wanted) << wanted.bytes;
}

}  // namespace
}  // namespace live::wire::websocket
