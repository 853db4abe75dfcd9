// Frees large amounts of memory. Freeing tens of MiB takes milliseconds, because large blocks go straight back to the kernel: a
// worker thread does it, so that the loop is not blocked.
#pragma once

#include <vector>

#include "base/block.hpp"

namespace live::service::files {

// Frees soon the blocks that have no other owner. Never suspends; without a worker they are freed here.
void release(std::vector<Block> blocks);

}  // namespace live::service::files
