// An in-memory file for readers that scan piece by piece. Included only by tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "base/files/whole_part.hpp"

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

// For fuzzers: the whole part and the patch lie within the file, and a second scan of the patched file finds it whole.
inline void check_whole_part(WholePartReader look, std::vector<std::uint8_t> file) {
    const auto part = look_at(look, file);
    if (!part.ok())
        return;
    CHECK(part->bytes <= file.size());
    file.resize(static_cast<std::size_t>(part->bytes));
    if (part->patch) {
        CHECK(part->patch->offset + part->patch->bytes.size() <= file.size());
        std::ranges::copy(part->patch->bytes, file.begin() + static_cast<std::ptrdiff_t>(part->patch->offset));
    }
    const auto again = look_at(look, file);
    CHECK(again.ok() && again->bytes == part->bytes && again->has_media == part->has_media);
}

}  // namespace live
