// Block: bytes with several owners, who may be in different threads: who made them, those they are sent to, and a worker that
// writes them to a file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace live {

using Block = std::shared_ptr<const std::vector<std::uint8_t>>;

}  // namespace live
