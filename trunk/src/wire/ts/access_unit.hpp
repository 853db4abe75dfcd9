// From the frames that FLV and MP4 carry to those of a transport stream: NAL units with lengths in front become NAL units
// behind start codes (ITU-T H.264 and H.265, annex B), an access unit delimiter comes first, and the parameter sets stand in
// front of every key frame.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::ts {

enum class PictureCodec : std::uint8_t { avc, hevc };

// What a decoder configuration record says, kept.
struct VideoFormat {
    PictureCodec codec = PictureCodec::avc;
    std::uint8_t nal_length_size = 4;
    std::vector<std::uint8_t> parameter_sets;  // each behind a start code
};

// NAL units in one access unit; levels allow at most 600 slices.
inline constexpr std::size_t kNalUnitsMax = 1'024;

// Errors of parse_avc_config and parse_hevc_config.
Result<VideoFormat> avc_video_format(Bytes record);
Result<VideoFormat> hevc_video_format(Bytes record);

enum class PictureIs : bool { inter, key };

// The parts of one access unit, in order; they borrow `format` and `body`. None when the body holds no NAL unit. The parameter
// sets are left out when the body brings its own. Errc::malformed for a length that does not fit, Errc::limit above kNalUnitsMax;
// then `parts` is of no use.
Result<void> collect_access_unit(const VideoFormat& format, PictureIs is, Bytes body, std::vector<Bytes>& parts);

}  // namespace live::wire::ts
