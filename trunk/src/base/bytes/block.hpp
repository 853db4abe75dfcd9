// Block: bytes whose owners may be in different threads: the creator, the recipients, and a worker that writes them to a file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace live {

using Block = std::shared_ptr<const std::vector<std::uint8_t>>;

}  // namespace live
