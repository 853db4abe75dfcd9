// Decoder configurations of any codec: whether one can be used. The files of the codecs parse their contents.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/codec.hpp"

namespace live::wire::codec {

// Ok if a decoder can start with the record, as far as it is known here: it parses, and so does its first parameter set. Always
// ok for codecs whose configuration is opaque, and for those without one. Errors of the codec's parser.
Result<void> check_config(Codec codec, Bytes record);

// Bytes of the length before each NAL unit: 1 to 4. 4 if the record does not define it.
std::uint8_t nal_length_size_of(Codec codec, Bytes record);

}  // namespace live::wire::codec
