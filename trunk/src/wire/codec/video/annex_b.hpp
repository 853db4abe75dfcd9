// Annex B byte streams (ITU-T H.264 and H.265, annex B): NAL units after start codes, as in transport and program streams. An
// access unit is converted to the form that frames have here: length-prefixed NAL units, with the parameter sets apart, because
// they belong into the decoder configuration. The opposite direction is ts/access_unit.hpp.
#pragma once

#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Maximum NAL units in one access unit, empty ones too; levels allow at most 600 slices.
inline constexpr std::size_t kAnnexBUnitsMax = 1'024;

// Collects the NAL units of a byte stream, in order; they borrow from `stream`. Zeros around them and empty units are skipped.
// Errc::malformed when something else precedes the first start code, Errc::limit above kAnnexBUnitsMax; `units` is then
// unspecified.
Result<void> split_annex_b(Bytes stream, std::vector<Bytes>& units);

// The NAL units of one access unit, by purpose, all borrowed. Delimiters and filler data are left out: MP4 does not allow them.
struct AnnexBUnits {
    // An access unit usually has all of them if it is a key frame, and none otherwise.
    std::vector<Bytes> vps;
    std::vector<Bytes> sps;
    std::vector<Bytes> pps;
    std::vector<Bytes> others;
    bool key = false;  // an IDR picture, or any random access picture of HEVC
};

struct AnnexBAccessUnit : AnnexBUnits {
    // `others`, each after its length in four bytes. Empty if missing.
    Slice frame;
};

// `codec` is avc or hevc. Errors of split_annex_b, and Errc::malformed for a unit that is shorter than its header.
Result<AnnexBUnits> sort_annex_b(Codec codec, Bytes stream);

// Puts `units`, parts of `whole` in their order, after lengths of four bytes, in place: `bytes` are those of `whole`, and nobody
// else refers to them. After start codes of four bytes nothing moves; after shorter ones the units in front of the last move by a
// byte or two. Copies if there is not enough room. Borrowed units are invalid afterwards.
Slice with_lengths_in_place(const Slice& whole, MutBytes bytes, const std::vector<Bytes>& units);

// The same, with the frame copied. Errors of sort_annex_b.
Result<AnnexBAccessUnit> read_annex_b(Codec codec, Bytes stream);

// The decoder configuration that the parameter sets of an access unit make. Errc::not_found when one of them is missing; errors
// of make_avc_config and make_hevc_config.
Result<std::vector<std::uint8_t>> make_config(Codec codec, const AnnexBUnits& unit);

// Reports whether a frame begins as a byte stream does. Length-prefixed units may begin the same: see form_of().
inline bool may_be_annex_b(Bytes frame) {
    return frame.size() >= 4 && frame[0] == 0 && frame[1] == 0 && (frame[2] == 1 || (frame[2] == 0 && frame[3] == 1));
}

// The form of a frame of H.264 or HEVC.
enum class NalForm : std::uint8_t {
    lengths,  // not a byte stream
    annex_b,
    either,  // a start code that is a length, too, and the lengths lead to the end of the frame
};
// `length_size` is the size of the lengths, 1 to 4.
NalForm form_of(Bytes frame, std::uint8_t length_size);

// Writes `head`, then each unit after its length. Errc::limit if a length does not fit.
Result<Slice> put_behind_lengths(Bytes head, const std::vector<Bytes>& units, std::uint8_t length_size);

}  // namespace live::wire::codec
