// Recovers an FLV recording of FileWriter that was never closed: it is usable up to its last complete tag, and its index is
// rebuilt.
#pragma once

#include "base/files/whole_part.hpp"

namespace live::wire::flv {

// Limit of the metadata at the start of the file.
inline constexpr std::size_t kMetadataBytesMax = 1 << 20;

// `size` is that of the file. Errc::malformed when it does not begin like a FileWriter file, or the error of `read`.
Result<WholePart> whole_part(std::uint64_t size, const ReadAt& read);

}  // namespace live::wire::flv
