// What a start with these settings would fail on, or do worse than asked, found without starting: files and folders that are not
// there, may not be written or do not belong together. Makes nothing, and asks no port: a server with this very file may run.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "settings/load.hpp"

namespace live::app {

// Paths are relative to the working directory, which is work_dir by then. The first error, in the words of the start.
Result<void> check_start(const settings::Settings& settings);

// A sentence for each folder that recordings, HLS or DASH are to be written to and cannot be: the server starts without.
std::vector<std::string> unwritable_folders(const settings::Settings& settings);

}  // namespace live::app
