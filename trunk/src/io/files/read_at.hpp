// Reads a part of an open file. Blocks, so it belongs in a worker thread (io::off_loop).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace live::io {

// Fewer bytes than `count` at the end of the file. Errc::system, with the name.
Result<std::vector<std::uint8_t>> read_at(int file, const std::string& name, std::uint64_t offset, std::size_t count);

}  // namespace live::io
