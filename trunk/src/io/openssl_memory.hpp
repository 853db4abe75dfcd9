// What OpenSSL holds. It does not say by itself, but it can be told whom to ask for memory, and then it is counted: TLS sessions
// are the bulk of it. The count costs an addition for each block.
#pragma once

#include <cstddef>

namespace live::io {

// From now on. Once, before anything else of OpenSSL is used in the process; false, and nothing is counted, when it is too late.
bool count_openssl_memory();

// Bytes of all blocks that OpenSSL holds now, as the allocator rounds them; zero when they are not counted.
std::size_t openssl_bytes();

}  // namespace live::io
