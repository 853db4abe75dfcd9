// Bytes over client connections since the start, counted where they are read and written.
#pragma once

#include <cstdint>

namespace live::session {

struct Traffic {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
};

}  // namespace live::session
