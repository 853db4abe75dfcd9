// Memory held by OpenSSL. OpenSSL does not report it, so its allocation hooks are replaced by counting ones; most of it is TLS
// sessions. Counting costs an addition per block.
#pragma once

#include <cstddef>

namespace live::io {

// Starts counting. Once, before any other use of OpenSSL in the process; false, and nothing is counted, when it is too late.
bool count_openssl_memory();

// Size of all blocks that OpenSSL holds now, as rounded by the allocator; zero when they are not counted.
std::size_t openssl_bytes();

}  // namespace live::io
