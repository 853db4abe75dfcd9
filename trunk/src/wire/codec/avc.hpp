// H.264: the decoder configuration record that RTMP, FLV and MP4 carry (ISO/IEC 14496-15, 5.3.3.1) and the picture size inside
// its sequence parameter set (ITU-T H.264, 7.3.2.1.1). Not a decoder: everything behind the picture size is read only where it
// must be. Also what leaving B-frames out of a stream takes: which slices are theirs, and a parameter set that allows for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/picture.hpp"

namespace live::wire::codec {

struct AvcConfig {
    std::uint8_t profile = 0;
    std::uint8_t compatibility = 0;
    std::uint8_t level = 0;
    std::uint8_t nal_length_size = 4;  // bytes in front of each NAL unit of a picture: 1, 2 or 4
    std::vector<Bytes> sps;            // borrowed from the input, at most 31
    std::vector<Bytes> pps;            // borrowed from the input, at most 255
    Bytes extension;                   // what high profiles add behind them; not looked into
};

// Errc::need_more when it is cut, Errc::malformed, Errc::unsupported for a version other than 1.
Result<AvcConfig> parse_avc_config(Bytes record);
void write_avc_config(ByteWriter& out, const AvcConfig& config);

// A record for streams that carry their parameter sets themselves: what it says stands in the first of `sps`. NAL lengths are of
// four bytes. Errors of parse_avc_sps; Errc::limit for more sets than a record holds.
Result<std::vector<std::uint8_t>> make_avc_config(std::span<const Bytes> sps, std::span<const Bytes> pps);

// `nal` with its header byte, as it stands in the record.
Result<SpsInfo> parse_avc_sps(Bytes nal);

// The parameter set of a stream whose B-frames are left out, made of that of the whole stream. It promises that pictures are
// shown in the order of decoding (H.264, E.2.1: max_num_reorder_frames of 0, and no more pictures held than are predicted from),
// because decoders hold pictures back otherwise, and browsers take that for a failure. Where the set lets B-frames be (it is not
// Baseline, and did not promise that order itself) it also allows frame numbers to be left out (7.4.2.1.1,
// gaps_in_frame_num_value_allowed_flag), because B-frames that others are predicted from have some. `nal` with its header byte;
// what already says all this is given back as it is. Errors of parse_avc_sps, also for what it need not read.
Result<std::vector<std::uint8_t>> without_reordering(Bytes nal);

// Is the slice one of a B-frame (H.264, table 7-6)? `nal` is of type 1 or 5, with its header byte; its first bytes are enough.
Result<bool> is_avc_b_slice(Bytes nal);

// What SDP says of it (RFC 6184, 8.1): packetization-mode 1, and the three bytes behind the parameter set's header.
std::string avc_rtp_format(const AvcConfig& config);

// "Baseline", "Main", "High", ... or "Other".
std::string_view avc_profile_name(std::uint8_t profile);

}  // namespace live::wire::codec
