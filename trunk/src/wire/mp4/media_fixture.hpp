// Frames and formats shared by the tests of this folder.
#pragma once

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

namespace frames = codec::frames;
using codec::Codec;

inline codec::Frame avc_config() { return frames::config(Codec::avc, codec::avc_vectors().front().record); }
inline codec::Frame aac_config() { return frames::config(Codec::aac, hex("1210")); }

inline TrackFormat avc_track() { return avc_format(codec::avc_vectors().front().record).value(); }
inline TrackFormat aac_track() { return aac_format(hex("1210")).value(); }

// A sample whose data is `size` bytes of `fill`.
inline Sample sample_of(MediaTime dts, std::size_t size, std::uint8_t fill, bool key = true, MediaTime composition = {}) {
    return {.dts = dts, .pts = dts + composition, .key = key, .data = Slice::copy_of(std::vector<std::uint8_t>(size, fill))};
}

}  // namespace live::wire::mp4
