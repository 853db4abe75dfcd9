// VP9: the frame size, which only the uncompressed header of a key frame contains (VP9 Bitstream & Decoding Process, 6.2). Not a
// decoder: parsing stops after the size.
#pragma once

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/video/picture.hpp"

namespace live::wire::codec {

// Errc::need_more when truncated, Errc::malformed, Errc::not_found when the frame is not a key frame.
Result<SpsInfo> parse_vp9_key_frame(Bytes frame);

}  // namespace live::wire::codec
