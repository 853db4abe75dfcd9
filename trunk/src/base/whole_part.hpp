// What of a recording is whole that nobody closed: how much of its beginning, and what must be written over it so that it says
// what a closed one says. Found by readers that look at a file piece by piece, however long it is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/file_patch.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live {

// `count` bytes of the file from `offset` on, fewer at its end.
using ReadAt = std::function<Result<std::vector<std::uint8_t>>(std::uint64_t offset, std::size_t count)>;

struct WholePart {
    std::uint64_t bytes = 0;
    bool has_media = false;
    MediaTime duration{};
    std::optional<FilePatch> patch;
};

}  // namespace live
