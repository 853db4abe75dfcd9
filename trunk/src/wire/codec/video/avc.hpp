// H.264: the decoder configuration record carried in RTMP, FLV and MP4 (ISO/IEC 14496-15, 5.3.3.1) and the frame size in its
// sequence parameter set (ITU-T H.264, 7.3.2.1.1). Not a decoder: fields after the size are read only where needed. Also the
// support for removing B-frames from a stream: detecting their slices, and adapting the parameter set.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/video/picture.hpp"

namespace live::wire::codec {

struct AvcConfig {
    std::uint8_t profile = 0;
    std::uint8_t compatibility = 0;
    std::uint8_t level = 0;
    std::uint8_t nal_length_size = 4;  // length of the size field before each NAL unit: 1, 2 or 4 bytes
    std::vector<Bytes> sps;            // borrowed from the input, at most 31
    std::vector<Bytes> pps;            // borrowed from the input, at most 255
    Bytes extension;                   // appended by high profiles; not parsed
};

// Errc::need_more when truncated, Errc::malformed, Errc::unsupported for a version other than 1.
Result<AvcConfig> parse_avc_config(Bytes record);
void write_avc_config(ByteWriter& out, const AvcConfig& config);

// Builds a record for streams that carry their parameter sets in-band, from the first of `sps`. NAL lengths are four bytes.
// Errors as for parse_avc_sps; Errc::limit for more sets than a record can hold.
Result<std::vector<std::uint8_t>> make_avc_config(std::span<const Bytes> sps, std::span<const Bytes> pps);

// `nal` includes its header byte, as stored in the record.
Result<SpsInfo> parse_avc_sps(Bytes nal);

// Adapts a stream's parameter set for the stream without its B-frames. The result declares that output order equals decoding
// order (H.264, E.2.1: max_num_reorder_frames of 0, and max_dec_frame_buffering limited to the number of reference frames);
// without this, decoders hold frames back, which browsers treat as a failure. If the set permits B-frames (not Baseline, and no
// such order declared before), it also permits gaps in frame numbers (7.4.2.1.1, gaps_in_frame_num_value_allowed_flag), because
// B-frames used as references have frame numbers. `nal` includes its header byte; a set that already declares all this is
// returned unchanged. Errors as for parse_avc_sps, also for fields which that skips.
Result<std::vector<std::uint8_t>> without_reordering(Bytes nal);

// Whether the slice is a B slice (H.264, table 7-6). `nal` is of type 1 or 5, with its header byte; its first bytes suffice.
Result<bool> is_avc_b_slice(Bytes nal);

// The SDP format parameters (RFC 6184, 8.1): packetization-mode 1, and the three bytes after the parameter set's header byte.
std::string avc_rtp_format(const AvcConfig& config);

// "Baseline", "Main", "High", ... or "Other".
std::string_view avc_profile_name(std::uint8_t profile);

}  // namespace live::wire::codec
