// FLAC: the STREAMINFO block (RFC 9639, 8.2), which enhanced RTMP and MP4 carry as the decoder's configuration.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

inline constexpr std::size_t kFlacStreamInfoBytes = 34;

struct FlacStreamInfo {
    std::uint16_t block_samples_min = 0;
    std::uint16_t block_samples_max = 0;
    std::uint32_t sample_rate = 0;  // Hz
    std::uint8_t channels = 0;      // 1 to 8
    std::uint8_t sample_bits = 0;   // 4 to 32
    Bytes block;                    // the block itself without its header, borrowed from the input
};

// With or without the block's header, and with or without the word "fLaC" in front of that: writers differ. What follows is not
// looked at. Errc::need_more when it is cut; Errc::malformed for another block or a rate of zero.
Result<FlacStreamInfo> parse_flac_stream_info(Bytes bytes);

}  // namespace live::wire::codec
