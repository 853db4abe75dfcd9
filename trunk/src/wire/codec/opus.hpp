// Opus: the identification header (RFC 7845, 5.1), which enhanced RTMP sends as sequence start.
#pragma once

#include <cstdint>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::codec {

struct OpusHead {
    std::uint8_t channels = 2;
    std::uint16_t pre_skip = 0;         // samples at 48 kHz to drop at the beginning
    std::uint32_t input_rate = 48'000;  // of the material before encoding; Opus itself always runs at 48 kHz
    std::int16_t gain = 0;              // in 1/256 dB
    std::uint8_t mapping_family = 0;
    std::uint8_t streams = 1;
    std::uint8_t coupled = 1;  // of the streams, how many are stereo
    Bytes mapping;             // one byte a channel, borrowed from the input; empty for family 0

    std::uint8_t version = 1;
};

// Errc::need_more when it is cut, Errc::malformed without the magic word, with no channel, or with more than two in family 0;
// Errc::unsupported for a major version other than 0.
Result<OpusHead> parse_opus_head(Bytes head);
void write_opus_head(ByteWriter& out, const OpusHead& head);

}  // namespace live::wire::codec
