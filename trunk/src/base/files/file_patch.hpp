// Bytes that overwrite part of an otherwise complete file: sizes and durations that are known only at its end.
#pragma once

#include <cstdint>
#include <vector>

namespace live {

struct FilePatch {
    std::uint64_t offset = 0;
    std::vector<std::uint8_t> bytes;
};

}  // namespace live
