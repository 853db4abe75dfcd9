// Opus: the identification header (RFC 7845, 5.1), which enhanced RTMP sends as the sequence start.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

struct OpusHead {
    std::uint8_t channels = 2;
    std::uint16_t pre_skip = 0;         // samples at 48 kHz to drop at the start
    std::uint32_t input_rate = 48'000;  // of the original input; Opus itself always runs at 48 kHz
    std::int16_t gain = 0;              // in 1/256 dB
    std::uint8_t mapping_family = 0;
    std::uint8_t streams = 1;
    std::uint8_t coupled = 1;  // how many of the streams are stereo
    Bytes mapping;             // one byte per channel, borrowed from the input; empty for family 0

    std::uint8_t version = 1;
};

// Errc::need_more when truncated, Errc::malformed without the magic word, with no channels, or with more than two in family 0;
// Errc::unsupported for a major version other than 0.
Result<OpusHead> parse_opus_head(Bytes head);
void write_opus_head(ByteWriter& out, const OpusHead& head);

// The header for 1 to 8 channels in the order of Vorbis (RFC 7845, 5.1.1.2), for containers that say only their number;
// Errc::unsupported for others.
Result<std::vector<std::uint8_t>> make_opus_head(unsigned channels);

// Samples at 48 kHz in one Opus packet, 120 to 5,760 (RFC 6716, 3). Errc::need_more when its header is truncated, Errc::malformed
// when it is longer than 120 ms or has no frame.
Result<std::uint32_t> opus_samples(Bytes packet);

}  // namespace live::wire::codec
