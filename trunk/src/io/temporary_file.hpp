// The name that a file has until it is whole, and how it gets its own.
#pragma once

#include <string>

#include "base/result.hpp"

namespace live::io {

inline std::string temporary_of(const std::string& path) { return path + ".tmp"; }

// Blocks. Errc::conflict when `to` exists, which stays as it is.
Result<void> rename_new(const std::string& from, const std::string& to);

}  // namespace live::io
