// A file in memory for readers that look at one piece by piece. Only tests include it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/whole_part.hpp"

namespace live {

using WholePartReader = Result<WholePart> (*)(std::uint64_t, const ReadAt&);

inline Result<WholePart> look_at(WholePartReader look, const std::vector<std::uint8_t>& file) {
    return look(file.size(), [&file](std::uint64_t offset, std::size_t count) -> Result<std::vector<std::uint8_t>> {
        const auto from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, file.size()));
        const auto to = from + std::min(count, file.size() - from);
        return std::vector<std::uint8_t>(file.begin() + static_cast<std::ptrdiff_t>(from),
                                         file.begin() + static_cast<std::ptrdiff_t>(to));
    });
}

}  // namespace live
