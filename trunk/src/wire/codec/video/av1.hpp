// AV1: the codec configuration record ("AV1 Codec ISO Media File Format Binding", 2.3.3) and the frame size in the sequence
// header OBU (AV1 Bitstream & Decoding Process, 5.5). Not a decoder: parsing stops after the size.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/video/picture.hpp"

namespace live::wire::codec {

struct Av1Config {
    std::uint8_t profile = 0;
    std::uint8_t level = 0;
    bool high_tier = false;
    std::uint8_t color_bits = 0;  // raw bits: high_bitdepth, twelve_bit, monochrome, subsampling x and y, sample position
    std::uint8_t delay = 0;       // raw initial presentation delay, with its presence bit
    Bytes obus;                   // borrowed from the input
};

// Errc::need_more when truncated, Errc::malformed without the marker bit, Errc::unsupported for a version other than 1.
Result<Av1Config> parse_av1_config(Bytes record);
void write_av1_config(ByteWriter& out, const Av1Config& config);

// Builds a record for streams that carry their sequence header in-band: `obus` are those of a key frame, with size fields. Errors
// as for parse_av1_sequence_header.
Result<std::vector<std::uint8_t>> make_av1_config(Bytes obus);

// AV1, 5.3: one OBU. `whole` and `payload` are borrowed from the input.
struct Obu {
    static constexpr std::uint8_t kSequenceHeader = 1;
    static constexpr std::uint8_t kTemporalDelimiter = 2;

    std::uint8_t type = 0;
    Bytes whole;
    Bytes payload;
    bool has_size = false;
};
// Takes the next OBU; one without a size field reaches to the end. Errc::need_more, Errc::malformed.
Result<Obu> read_obu(ByteReader& in);
// Writes it with a size field, which it needs beside others.
void write_obu(ByteWriter& out, const Obu& obu);

// Finds the sequence header among `obus`; Errc::not_found when there is none, Errc::limit after 16 others.
Result<SpsInfo> parse_av1_sequence_header(Bytes obus);

}  // namespace live::wire::codec
