// The units of a picture, as frames carry them: NAL units behind their lengths, or OBUs. Reads their types only.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Whether decoding can start at the frame: an IDR picture of H.264, a random access picture of HEVC, a sequence header of AV1, a
// key frame of VP8 or VP9. False for other codecs and for what cannot be read. `length_size` is the size of the lengths, 1 to 4.
bool is_random_access(Codec codec, std::uint8_t length_size, Bytes frame);

}  // namespace live::wire::codec
