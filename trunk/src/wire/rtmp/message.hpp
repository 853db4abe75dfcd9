// The RTMP message, as assembled from chunks, and constants shared by all users of the format. Chunking is in chunk_writer and
// chunk_reader, the meaning of messages in control_message and the engine.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"

namespace live::wire::rtmp {

// RTMP 1.0, sections 5.4 and 7.1. A peer may send any number; types not named here are parsed and ignored.
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
    // Milliseconds on the sender's clock. Wraps at 2^32; only differences are meaningful.
    std::uint32_t timestamp_ms = 0;
    std::uint32_t stream_id = 0;
    std::uint32_t chunk_stream = 0;
    Slice payload;
};

// Chunk stream IDs: 2 is reserved for the protocol (RTMP 1.0, section 5.4), the others are our convention. Media wire logs are
// encoded once for all players, so their three chunk streams must not be used for anything written for a single player.
inline constexpr std::uint32_t kControlChunkStream = 2;
inline constexpr std::uint32_t kCommandChunkStream = 3;
inline constexpr std::uint32_t kAudioChunkStream = 4;
inline constexpr std::uint32_t kDataChunkStream = 5;
inline constexpr std::uint32_t kVideoChunkStream = 6;
inline constexpr std::uint32_t kChunkStreamIdMax = 65'599;

// The stream ID returned by createStream. One connection carries one stream.
inline constexpr std::uint32_t kMessageStreamId = 1;

// The initial chunk size of both sides (RTMP 1.0, section 5.3.1).
inline constexpr std::uint32_t kChunkSizeInitial = 128;
// The message length field has 24 bits.
inline constexpr std::uint32_t kMessageLengthMax = 0xFF'FFFF;
// Timestamps from this value on are sent in the four-byte extended timestamp (RTMP 1.0, section 5.3.1.3).
inline constexpr std::uint32_t kExtendedTimestamp = 0xFF'FFFF;

}  // namespace live::wire::rtmp
