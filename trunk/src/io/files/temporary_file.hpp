// The name of a file until it is complete, and the rename to its final one.
#pragma once

#include <string>

#include "base/result.hpp"

namespace live::io {

inline std::string temporary_of(const std::string& path) { return path + ".tmp"; }

// Blocks. Errc::conflict when `to` exists, which is left unchanged.
Result<void> rename_new(const std::string& from, const std::string& to);

}  // namespace live::io
