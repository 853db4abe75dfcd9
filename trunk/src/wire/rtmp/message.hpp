// The RTMP message: what travels once the chunks are put together, and the numbers every user of the format needs. Not here: how
// a message is cut into chunks (chunk_writer, chunk_reader) and what a message means (control_message, the engine).
#pragma once

#include <cstdint>

#include "base/bytes.hpp"

namespace live::wire::rtmp {

// RTMP 1.0, sections 5.4 and 7.1. A peer may send any number; those without a name here are carried and ignored.
enum class MessageType : std::uint8_t {
    set_chunk_size = 1,
    abort = 2,
    acknowledgement = 3,
    user_control = 4,
    window_ack_size = 5,
    set_peer_bandwidth = 6,
    audio = 8,
    video = 9,
    amf3_data = 15,
    amf3_shared_object = 16,
    amf3_command = 17,
    amf0_data = 18,
    amf0_shared_object = 19,
    amf0_command = 20,
    aggregate = 22,
};

struct Message {
    MessageType type{};
    // Milliseconds on the sender's clock. Wraps at 2^32; only differences mean anything.
    std::uint32_t timestamp_ms = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t chunk_stream = 0;
    Slice payload;
};

// Chunk stream ids: 2 is the protocol's own (RTMP 1.0, section 5.4), the others are our habit. Media runs are encoded once for
// all players, so their three streams must not be used by anything that is written for one player.
inline constexpr std::uint32_t kControlChunkStream = 2;
inline constexpr std::uint32_t kCommandChunkStream = 3;
inline constexpr std::uint32_t kAudioChunkStream = 4;
inline constexpr std::uint32_t kDataChunkStream = 5;
inline constexpr std::uint32_t kVideoChunkStream = 6;
inline constexpr std::uint32_t kChunkStreamIdMax = 65'599;

// The stream that createStream gives out. One connection carries one stream.
inline constexpr std::uint32_t kMessageStreamId = 1;

// Both ends start with this size (RTMP 1.0, section 5.3.1).
inline constexpr std::uint32_t kChunkSizeInitial = 128;
// A message's length has 24 bits.
inline constexpr std::uint32_t kMessageLengthMax = 0xFF'FFFF;
// Times from here on travel in the four bytes of the extended timestamp (RTMP 1.0, section 5.3.1.3).
inline constexpr std::uint32_t kExtendedTimestamp = 0xFF'FFFF;

}  // namespace live::wire::rtmp
