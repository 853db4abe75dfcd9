// The operating system's limits for this process: open files and core dumps.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"

namespace live::app {

// Files that the server needs in addition to one per connection.
inline constexpr std::uint64_t kSpareFiles = 128;

// Raises the soft limit of open files to the hard one and returns the effective limit.
Result<std::uint64_t> raise_open_files_limit();

// Permits core dumps up to the hard limit.
Result<void> permit_core_dumps();

struct ConnectionsLimit {
    std::uint32_t max_connections = 0;
    // Names both numbers when the limit of open files has reduced the number, otherwise empty.
    std::string warning;
};

// How many connections fit: the requested number, clamped to the limit of open files less kSpareFiles, at least 1.
ConnectionsLimit fit_connections(std::uint32_t wanted, std::uint64_t open_files_limit);

}  // namespace live::app
