// Finds, without starting, what a start with these settings would fail on or degrade because of: files and folders that are
// missing, not writable or do not belong together. Creates nothing, and tests no port: a server with the same file may be
// running.
#pragma once

#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "settings/conf/load.hpp"

namespace live::app {

// Paths are relative to the working directory, which is already work_dir. Returns the first error, with the same text as a start.
Result<void> check_start(const settings::Settings& settings);

// Workers share ports with each other, and so they would with another server: whether the TCP ports are free. Errors as
// TcpListener::listen. A loop exists.
Result<void> check_ports(const settings::Settings& settings, const Log& log);

// A sentence for each unwritable folder of recordings, HLS or DASH: the server starts without them.
std::vector<std::string> unwritable_folders(const settings::Settings& settings);

}  // namespace live::app
