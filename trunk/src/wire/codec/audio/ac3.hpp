// The header of an AC-3 or E-AC-3 frame (ATSC A/52, 5.3 and annex E.1.2), as far as needed to separate frames: transport streams
// carry several in one packet.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

struct Ac3Header {
    std::uint32_t sample_rate = 0;  // Hz
    std::uint16_t samples = 0;      // per channel
    std::size_t frame_bytes = 0;    // including the header
    bool enhanced = false;          // E-AC-3
    bool continues = false;         // E-AC-3: a further substream, part of the access unit before it

    bool operator==(const Ac3Header&) const = default;
};

inline constexpr std::size_t kAc3FrameBytesMax = 4'096;

// Errc::need_more, Errc::malformed, Errc::unsupported for a bit stream id above 16.
Result<Ac3Header> parse_ac3_header(Bytes bytes);

}  // namespace live::wire::codec
