// The units of an image, as frames carry them: length-prefixed NAL units, or OBUs. Only their types are read.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Whether decoding can start at the frame: an IDR picture of H.264, a random access picture of HEVC, a sequence header of AV1, a
// key frame of VP8 or VP9. False for other codecs and for what cannot be read. `length_size` is the size of the lengths, 1 to 4.
bool is_random_access(Codec codec, std::uint8_t length_size, Bytes frame);

// The place of a message's units in an image. Some encoders send one image in several messages.
enum class PicturePart : std::uint8_t {
    front,    // precedes an image: delimiter, parameter sets, SEI, a frame of AV1 that is not shown
    first,    // begins an image, and is all of it unless the rest follows in other messages
    middle,   // continues an image: slices without the first one
    back,     // follows an image: filler data, end of sequence
    unknown,  // cannot be read, or is of another codec
};

// Reads up to the first slice. `length_size` as above; not used for AV1.
PicturePart picture_part_of(Codec codec, std::uint8_t length_size, Bytes units);

}  // namespace live::wire::codec
