// HEVC: the decoder configuration record (ISO/IEC 14496-15, 8.3.3.1) and the frame size in its sequence parameter set (ITU-T
// H.265, 7.3.2.2). Not a decoder: parsing stops after the size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/video/picture.hpp"

namespace live::wire::codec {

// NAL units of one type, borrowed from the input.
struct HevcArray {
    std::uint8_t type = 0;
    bool complete = false;
    std::vector<Bytes> units;
};

struct HevcConfig {
    static constexpr std::uint8_t kVps = 32;
    static constexpr std::uint8_t kSps = 33;
    static constexpr std::uint8_t kPps = 34;
    static constexpr std::size_t kUnitsMax = 256;  // NAL units in all arrays

    std::uint8_t profile_space = 0;
    bool high_tier = false;
    std::uint8_t profile = 0;
    std::uint32_t compatibility = 0;
    std::uint64_t constraints = 0;  // 48 bits
    std::uint8_t level = 0;         // 30 times the level number
    std::uint16_t min_spatial_segmentation = 0;
    std::uint8_t parallelism = 0;
    std::uint8_t chroma_format = 0;
    std::uint8_t bit_depth_luma = 8;
    std::uint8_t bit_depth_chroma = 8;
    std::uint16_t average_frame_rate = 0;  // frames per 256 seconds; 0: unspecified
    std::uint8_t flags = 0;                // raw bits: constantFrameRate, numTemporalLayers, temporalIdNested
    std::uint8_t nal_length_size = 4;
    std::vector<HevcArray> arrays;

    // The first NAL unit of that type; empty if missing.
    Bytes first_unit(std::uint8_t type) const;
};

// Errc::need_more when truncated, Errc::malformed, Errc::unsupported for a version above 1, Errc::limit above kUnitsMax.
Result<HevcConfig> parse_hevc_config(Bytes record);
void write_hevc_config(ByteWriter& out, const HevcConfig& config);

// Builds a record for streams that carry their parameter sets in-band, from the first of `sps`. NAL lengths are four bytes.
// Errors as for parse_hevc_sps; Errc::limit for more sets than a record can hold.
Result<std::vector<std::uint8_t>> make_hevc_config(std::span<const Bytes> vps, std::span<const Bytes> sps,
                                                   std::span<const Bytes> pps);

// `nal` includes its two header bytes, as stored in the record.
Result<SpsInfo> parse_hevc_sps(Bytes nal);

}  // namespace live::wire::codec
