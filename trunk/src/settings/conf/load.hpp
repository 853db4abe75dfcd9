// Loads the settings: reads a conf file, rewrites old forms, binds rows, applies the environment, checks the result. Reload loads
// a second tree and compares (settings/conf/tools.hpp); a session keeps the options it started with.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/config/environment.hpp"
#include "base/result.hpp"
#include "settings/conf/tree.hpp"

namespace live::settings {

struct LoadedSettings {
    Settings settings;
    // One sentence each, with file, line and column where known: legacy forms, options without effect, odd values.
    std::vector<std::string> warnings;
    // `daemon` is on in the conf, and off because this is a container.
    bool is_kept_in_foreground = false;
    // The names of the SRS_* variables that were applied, for the start log.
    std::vector<std::string> environment_used;
};

struct LoadInput {
    // The conf file; not read when env_only.
    std::string path;
    // -e or SRS_ENV_ONLY: no file; other defaults (no daemon, console log, listen 1935, a default virtual host).
    bool env_only = false;
    // Process 1 is in a container's cgroup (detected by the caller); the same as in_docker on.
    bool in_container = false;
    // How many addresses this machine has, for stats.network; 0 when unknown, then it is not checked.
    std::size_t local_addresses = 0;
    config::Environment environment;
};

// Reads, rewrites legacy forms, binds and checks. An error is a sentence with file, line and column; the process exits with code
// 1023.
Result<LoadedSettings> load_settings(const LoadInput& input);

// The same with file contents from `read_file`, for tests and text that is not on disk.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
Result<LoadedSettings> load_settings(const LoadInput& input, const ReadFile& read_file);

}  // namespace live::settings
