// AV1: the codec configuration record ("AV1 Codec ISO Media File Format Binding", 2.3.3) and the picture size inside the sequence
// header OBU (AV1 Bitstream & Decoding Process, 5.5). Not a decoder: reading stops behind the size.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/picture.hpp"

namespace live::wire::codec {

struct Av1Config {
    std::uint8_t profile = 0;
    std::uint8_t level = 0;
    bool high_tier = false;
    std::uint8_t color_bits = 0;  // high_bitdepth, twelve_bit, monochrome, subsampling x and y, sample position as they stand
    std::uint8_t delay = 0;       // initial presentation delay as it stands, with its presence bit
    Bytes obus;                   // borrowed from the input
};

// Errc::need_more when it is cut, Errc::malformed without the marker bit, Errc::unsupported for a version other than 1.
Result<Av1Config> parse_av1_config(Bytes record);
void write_av1_config(ByteWriter& out, const Av1Config& config);

// A record for streams that carry their sequence header themselves: `obus` of a key frame, with their sizes. Errors of
// parse_av1_sequence_header.
Result<std::vector<std::uint8_t>> make_av1_config(Bytes obus);

// Finds the sequence header among `obus`; Errc::not_found when there is none, Errc::limit behind 16 others.
Result<SpsInfo> parse_av1_sequence_header(Bytes obus);

}  // namespace live::wire::codec
