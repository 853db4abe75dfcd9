// The header of an MPEG audio frame: layer III, and layer II, which transport streams carry too (ISO/IEC 11172-3, 2.4.1.3;
// ISO/IEC 13818-3, 2.4.2.3; MPEG-2.5 by common practice).
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

inline constexpr std::size_t kMp3HeaderBytes = 4;

struct Mp3Header {
    std::uint32_t sample_rate = 0;  // Hz
    std::uint32_t bit_rate = 0;     // bit/s
    std::uint16_t samples = 0;      // per channel in the frame
    std::uint8_t channels = 0;
    std::size_t frame_bytes = 0;  // including the header
    std::uint8_t layer = 3;

    bool operator==(const Mp3Header&) const = default;
};

// Errc::need_more, Errc::malformed, Errc::unsupported for other layers and for the free format, which does not state its length.
Result<Mp3Header> parse_mp3_header(Bytes bytes);
// Also accepts layer II. The same errors.
Result<Mp3Header> parse_mpeg_audio_header(Bytes bytes);

}  // namespace live::wire::codec
