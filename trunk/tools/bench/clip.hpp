// An FLV file as a list of RTMP messages, ready to be sent as chunks. It knows just enough of FLV to cut tags and to tell
// sequence headers from frames; it validates nothing, because we make the files ourselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// The size of a chunk's payload: what our server and its publishers announce.
inline constexpr std::size_t kChunkBytes = 60'000;

struct ClipMessage {
    std::uint8_t type = 0;           // 8 audio, 9 video, 18 data.
    std::uint32_t timestamp_ms = 0;  // From the clip's start.
    bool is_setup = false;           // Metadata or a sequence header: sent in the first round only.
    bool is_key = false;             // The start of a GOP.
    std::size_t payload_bytes = 0;
    std::vector<std::uint8_t> chunks;  // The payload, with type-3 headers where it is longer than a chunk.
};

struct Clip {
    std::vector<ClipMessage> messages;
    std::uint32_t duration_ms = 0;  // The time after which the next round starts.
    std::size_t media_bytes = 0;    // Audio and video payload of one round.
    std::size_t gop_bytes_max = 0;  // The largest sum from a key frame up to the next.

    double kbps() const;
};

// Dies when the file is missing or holds no media.
Clip load_clip(const std::string& path);

// The 12 bytes of a type-0 chunk header on message stream 1; the chunk stream is the customary one of the type.
void write_type0_header(std::uint8_t* into, const ClipMessage& message, std::uint32_t timestamp_ms);
inline constexpr std::size_t kType0Bytes = 12;

}  // namespace bench
