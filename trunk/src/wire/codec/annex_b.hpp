// Annex B byte streams (ITU-T H.264 and H.265, annex B): NAL units after start codes, as in transport and program streams. An
// access unit is converted to the form that frames have here: length-prefixed NAL units, with the parameter sets apart, because
// they belong into the decoder configuration. The opposite direction is ts/access_unit.hpp.
#pragma once

#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Maximum NAL units in one access unit; levels allow at most 600 slices.
inline constexpr std::size_t kAnnexBUnitsMax = 1'024;

// Collects the NAL units of a byte stream, in order; they borrow from `stream`. Zeros around them and empty units are skipped.
// Errc::malformed when something else precedes the first start code, Errc::limit above kAnnexBUnitsMax; `units` is then
// unspecified.
Result<void> split_annex_b(Bytes stream, std::vector<Bytes>& units);

struct AnnexBAccessUnit {
    // Borrowed from the input. An access unit usually has all of them if it is a key frame, and none otherwise.
    std::vector<Bytes> vps;
    std::vector<Bytes> sps;
    std::vector<Bytes> pps;
    bool key = false;  // an IDR picture, or any random access picture of HEVC
    // The other NAL units, each after its length in four bytes; without delimiters and filler data, which MP4 does not allow.
    // Empty when there are none.
    Slice frame;
};

// `codec` is avc or hevc. Errors of split_annex_b, and Errc::malformed for a unit that is shorter than its header.
Result<AnnexBAccessUnit> read_annex_b(Codec codec, Bytes stream);

// The decoder configuration that the parameter sets of an access unit make. Errc::not_found when one of them is missing; errors
// of make_avc_config and make_hevc_config.
Result<std::vector<std::uint8_t>> make_config(Codec codec, const AnnexBAccessUnit& unit);

}  // namespace live::wire::codec
