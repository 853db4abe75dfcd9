// Writes and removes whole files in a worker thread, so that a slow disk does not block the loop. Replacement is atomic: a file
// is written under a temporary name and renamed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"

namespace live::io {

// Appended to the name while a file is being written.
inline constexpr const char* kTemporarySuffix = ".tmp";

// Writes the concatenated blocks as `path` and makes missing folders. An existing file is replaced once the new one is complete.
// Errc::denied, Errc::system (a full disk), Errc::limit when the worker queue is full, Errc::timed_out, Errc::cancelled; an
// incomplete file is removed.
Result<void> replace_file(std::string path, std::vector<Block> blocks, Deadline deadline);

// Missing files are skipped. Errors as above, for the first file that still exists.
Result<void> remove_files(std::vector<std::string> paths, Deadline deadline);

// Bytes of each file; none where there is no file.
Result<std::vector<std::optional<std::uint64_t>>> file_sizes(std::vector<std::string> paths, Deadline deadline);

}  // namespace live::io
