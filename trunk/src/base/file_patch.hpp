// Bytes that are written over others of a file which is complete but for them: sizes and times that are known at its end only.
#pragma once

#include <cstdint>
#include <vector>

namespace live {

struct FilePatch {
    std::uint64_t offset = 0;
    std::vector<std::uint8_t> bytes;
};

}  // namespace live
