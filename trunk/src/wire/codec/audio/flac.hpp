// FLAC: the STREAMINFO block (RFC 9639, 8.2), which enhanced RTMP and MP4 carry as the decoder configuration.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

inline constexpr std::size_t kFlacStreamInfoBytes = 34;

struct FlacStreamInfo {
    std::uint16_t block_samples_min = 0;
    std::uint16_t block_samples_max = 0;
    std::uint32_t sample_rate = 0;  // Hz
    std::uint8_t channels = 0;      // 1 to 8
    std::uint8_t sample_bits = 0;   // 4 to 32
    Bytes block;                    // the block without its header, borrowed from the input
};

// Accepts the block with or without its header, and with or without "fLaC" before it: writers differ. Trailing bytes are ignored.
// Errc::need_more when truncated; Errc::malformed for another block or a rate of zero.
Result<FlacStreamInfo> parse_flac_stream_info(Bytes bytes);

}  // namespace live::wire::codec
