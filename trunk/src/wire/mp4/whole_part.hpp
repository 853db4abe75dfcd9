// An MP4 recording of ours that nobody closed, of either kind: whole up to its last whole fragment, and its header is told how
// long that lasts.
#pragma once

#include "base/whole_part.hpp"

namespace live::wire::mp4 {

// Of a header, and of a fragment's.
inline constexpr std::size_t kHeaderBytesMax = 4 << 20;

// `size` bytes has the file. Errc::malformed when it does not begin like one of ours, and what `read` gives.
Result<WholePart> whole_part(std::uint64_t size, const ReadAt& read);

}  // namespace live::wire::mp4
