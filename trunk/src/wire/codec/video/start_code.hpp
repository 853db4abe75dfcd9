// Searches a byte stream for start codes (ITU-T H.264 and H.265, annex B) at the speed of memchr.
#pragma once

#include <cstddef>

#include "base/bytes/bytes.hpp"

namespace live::wire::codec {

inline constexpr std::size_t kStartCodePrefixBytes = 3;

// Returns the offset of the first start code prefix, 00 00 01, that begins at `from` or later; the size of `stream` if there is
// none. The time does not depend on the content: MiB of zeros take about three times as long as compressed video.
std::size_t find_start_code(Bytes stream, std::size_t from);

}  // namespace live::wire::codec
