// Tag bodies and formats that the tests of this folder share.
#pragma once

#include "base/byte_writer.hpp"
#include "base/hex.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/mp4/sample.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::wire::mp4 {

inline Slice body_of(Bytes head, Bytes rest = {}) {
    ByteWriter out;
    out.bytes(head).bytes(rest);
    return Slice::copy_of(out.written());
}

inline Slice avc_config_body() { return body_of(hex("17 00 000000"), codec::avc_vectors().front().record); }
inline Slice aac_config_body() { return body_of(hex("af 00 1210")); }

inline TrackFormat avc_track() { return avc_format(codec::avc_vectors().front().record).value(); }
inline TrackFormat aac_track() { return aac_format(hex("1210")).value(); }

// A sample whose data is `size` bytes of `fill`.
inline Sample sample_of(MediaTime dts, std::size_t size, std::uint8_t fill, bool key = true, MediaTime composition = {}) {
    return {.dts = dts, .pts = dts + composition, .key = key, .data = Slice::copy_of(std::vector<std::uint8_t>(size, fill))};
}

}  // namespace live::wire::mp4
