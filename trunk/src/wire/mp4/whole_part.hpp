// Recovers an MP4 recording of either writer that was never closed: it is usable up to its last complete fragment, and the
// durations in its header are filled in.
#pragma once

#include "base/files/whole_part.hpp"

namespace live::wire::mp4 {

// Limit of the movie header, and of a fragment's header.
inline constexpr std::size_t kHeaderBytesMax = 4 << 20;

// `size` is that of the file. Errc::malformed when it does not begin like one of our files, or the error of `read`.
Result<WholePart> whole_part(std::uint64_t size, const ReadAt& read);

}  // namespace live::wire::mp4
