// VP9: the picture size, which only the uncompressed header of a key frame says (VP9 Bitstream & Decoding Process, 6.2). Not a
// decoder: reading stops behind the size.
#pragma once

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/picture.hpp"

namespace live::wire::codec {

// Errc::need_more when it is cut, Errc::malformed, Errc::not_found when the frame is not a key frame.
Result<SpsInfo> parse_vp9_key_frame(Bytes frame);

}  // namespace live::wire::codec
