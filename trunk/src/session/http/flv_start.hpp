// What goes in front of an FLV file that is played from the middle: its header and the tags that decoders must have first. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"

namespace live::session::http {

// Of a file whose tags begin with these, this much is looked at.
inline constexpr std::size_t kFlvBeginBytes = 1 << 20;

// `begin` is the beginning of the file, as much as there is of kFlvBeginBytes. The file header, and of its first tags the
// metadata and the sequence headers, all at time 0. Empty when it is no FLV file.
std::vector<std::uint8_t> flv_preamble(Bytes begin);

}  // namespace live::session::http
