// Letting go of much memory. Freeing tens of MiB takes milliseconds, because large blocks go back to the kernel at once: a worker
// thread does it, and the loop goes on.
#pragma once

#include <vector>

#include "base/block.hpp"

namespace live::service::files {

// The blocks are freed soon, those of them that nobody else owns. Never suspends; without a worker they are freed here.
void release(std::vector<Block> blocks);

}  // namespace live::service::files
