// The bytes that must precede an FLV file played from the middle: its header and the tags that decoders need first. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::session::http {

// How much of the file is searched for these tags.
inline constexpr std::size_t kFlvBeginBytes = 1 << 20;

// `begin` is the beginning of the file, up to kFlvBeginBytes. Returns the file header, and from its first tags the metadata and
// the sequence headers, all at time 0. Empty when it is not an FLV file.
std::vector<std::uint8_t> flv_preamble(Bytes begin);

}  // namespace live::session::http
