// Converts frames from the FLV and MP4 form to that of transport streams: length-prefixed NAL units become NAL units with start
// codes (ITU-T H.264 and H.265, annex B), an access unit delimiter comes first, and parameter sets precede every key frame.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::ts {

enum class PictureCodec : std::uint8_t { avc, hevc };

// An owned copy of the needed parts of a decoder configuration record.
struct VideoFormat {
    PictureCodec codec = PictureCodec::avc;
    std::uint8_t nal_length_size = 4;
    std::vector<std::uint8_t> parameter_sets;  // each with a start code
};

// Maximum NAL units in one access unit; levels allow at most 600 slices.
inline constexpr std::size_t kNalUnitsMax = 1'024;

// Errors of parse_avc_config and parse_hevc_config.
Result<VideoFormat> avc_video_format(Bytes record);
Result<VideoFormat> hevc_video_format(Bytes record);

enum class PictureIs : bool { inter, key };

// Collects the parts of one access unit, in order; they borrow from `format` and `body`. Empty when the body contains no NAL
// unit. The parameter sets are omitted when the body contains them. Errc::malformed for a length that does not fit, Errc::limit
// above kNalUnitsMax; `parts` is then unspecified.
Result<void> collect_access_unit(const VideoFormat& format, PictureIs is, Bytes body, std::vector<Bytes>& parts);

}  // namespace live::wire::ts
