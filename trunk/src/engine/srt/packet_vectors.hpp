// Named datagrams of each type, shared by tests.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "engine/srt/packet.hpp"

namespace live::engine::srt {

struct DataVector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    DataHeader header;
};

inline const std::vector<DataVector>& data_vectors() {
    static const std::vector<DataVector> table = {
        {"plain",
         hex("00000001 c0000001 00000002 00000003 47"),
         {.sequence = 1, .message = 1, .timestamp = 2, .to = SocketId{3}}},
        {"encrypted with the odd key, ordered, again",
         hex("7fffffff f7ffffff ffffffff 80000001 aabb"),
         {.sequence = 0x7FFF'FFFF,
          .is_ordered = true,
          .key = KeyFlag::odd,
          .is_retransmitted = true,
          .message = 0x3FF'FFFF,
          .timestamp = 0xFFFF'FFFF,
          .to = SocketId{0x8000'0001}}},
        {"first of a message, even key",
         hex("12345678 88000005 00000000 00000009"),
         {.sequence = 0x1234'5678, .position = PacketPosition::first, .key = KeyFlag::even, .message = 5, .to = SocketId{9}}},
        {"the middle of a message, nothing else",
         hex("00000000 00000000 00000000 00000000"),
         {.position = PacketPosition::middle}},
    };
    return table;
}

struct ControlVector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    ControlHeader header;
    std::size_t contents;  // bytes
};

inline const std::vector<ControlVector>& control_vectors() {
    static const std::vector<ControlVector> table = {
        {"induction",
         hex("80000000 00000000 00000007 00000000 00000004 00000002 11111111 000005dc 00002000 00000001 22222222 00000000 "
             "0100007f 00000000 00000000 00000000"),
         {.type = ControlType::handshake, .timestamp = 7},
         48},
        {"keepalive",
         hex("80010000 00000000 00000064 00000005 00000000"),
         {.type = ControlType::keepalive, .timestamp = 100, .to = SocketId{5}},
         4},
        {"full ACK",
         hex("80020000 00000009 00000064 00000005 0000002a 000186a0 0000c350 00001ffe 000000c8 000003e8 00040000"),
         {.type = ControlType::ack, .information = 9, .timestamp = 100, .to = SocketId{5}},
         28},
        {"light ACK",
         hex("80020000 00000000 00000064 00000005 7fffffff"),
         {.type = ControlType::ack, .timestamp = 100, .to = SocketId{5}},
         4},
        {"NAK of one packet, a range and one packet",
         hex("80030000 00000000 00000064 00000005 00000007 80000009 0000000c 7fffffff"),
         {.type = ControlType::nak, .timestamp = 100, .to = SocketId{5}},
         16},
        {"shutdown",
         hex("80050000 00000000 00000064 00000005 00000000"),
         {.type = ControlType::shutdown, .timestamp = 100, .to = SocketId{5}},
         4},
        {"ACKACK",
         hex("80060000 00000009 00000064 00000005 00000000"),
         {.type = ControlType::ack_ack, .information = 9, .timestamp = 100, .to = SocketId{5}},
         4},
        {"drop request",
         hex("80070000 00000003 00000064 00000005 00000010 00000020"),
         {.type = ControlType::drop_request, .information = 3, .timestamp = 100, .to = SocketId{5}},
         8},
        {"peer error",
         hex("80080000 00000fa0 00000064 00000005 00000000"),
         {.type = ControlType::peer_error, .information = 4'000, .timestamp = 100, .to = SocketId{5}},
         4},
        {"a key request",
         hex("ffff0003 00000000 00000064 00000005 12202901"),
         {.type = ControlType::user, .subtype = 3, .timestamp = 100, .to = SocketId{5}},
         4},
    };
    return table;
}

}  // namespace live::engine::srt
