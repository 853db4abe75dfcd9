// The complete part of a recording that was never closed: how many bytes from its start are usable, and the patch that makes it
// read like a closed file. Found by readers that scan the file piece by piece, whatever its size.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/files/file_patch.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live {

// Reads up to `count` bytes of the file at `offset`; fewer at its end.
using ReadAt = std::function<Result<std::vector<std::uint8_t>>(std::uint64_t offset, std::size_t count)>;

struct WholePart {
    std::uint64_t bytes = 0;
    bool has_media = false;
    MediaTime duration{};
    std::optional<FilePatch> patch;
};

}  // namespace live
