// Whole files written and removed in a worker thread, so that a slow disk stops nobody. A file is there whole or not at all: it
// is written under another name and renamed.
#pragma once

#include <string>
#include <vector>

#include "base/block.hpp"
#include "base/result.hpp"
#include "io/deadline.hpp"

namespace live::io {

// What is added to the name while a file is written.
inline constexpr const char* kTemporarySuffix = ".tmp";

// The blocks one behind the other as `path`; folders are made. What was there is replaced when the new file is whole.
// Errc::denied, Errc::system (a full disk), Errc::limit when too much waits for the workers, Errc::timed_out, Errc::cancelled; a
// file that could not be finished is removed.
Result<void> replace_file(std::string path, std::vector<Block> blocks, Deadline deadline);

// Those that are not there are passed over. Errors as above, for the first file that is still there.
Result<void> remove_files(std::vector<std::string> paths, Deadline deadline);

// Which of the files are there.
Result<std::vector<bool>> are_files(std::vector<std::string> paths, Deadline deadline);

}  // namespace live::io
