// An FLV recording of FileWriter's that nobody closed: whole up to its last whole tag, and its index is made anew.
#pragma once

#include "base/whole_part.hpp"

namespace live::wire::flv {

// Of the metadata at the beginning.
inline constexpr std::size_t kMetadataBytesMax = 1 << 20;

// `size` bytes has the file. Errc::malformed when it does not begin like one of FileWriter's, and what `read` gives.
Result<WholePart> whole_part(std::uint64_t size, const ReadAt& read);

}  // namespace live::wire::flv
