#include "io/tls/openssl_memory.hpp"

#include <malloc.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>

namespace live::io {
namespace {

// OpenSSL's hooks take no context pointer. Atomic because worker threads make keys too.
std::atomic<std::size_t>& held() {
    static std::atomic<std::size_t> bytes{0};
    return bytes;
}

void* counted(void* block) {
    if (block != nullptr)
        held().fetch_add(malloc_usable_size(block), std::memory_order_relaxed);
    return block;
}

void release(void* block, const char* /*file*/, int /*line*/) {
    if (block != nullptr)
        held().fetch_sub(malloc_usable_size(block), std::memory_order_relaxed);
    std::free(block);
}

void* allocate(std::size_t bytes, const char* /*file*/, int /*line*/) { return counted(std::malloc(bytes)); }

void* resize(void* block, std::size_t bytes, const char* file, int line) {
    if (bytes == 0) {
        release(block, file, line);
        return nullptr;
    }
    const std::size_t before = block != nullptr ? malloc_usable_size(block) : 0;
    void* const after = counted(std::realloc(block, bytes));
    if (after != nullptr)
        held().fetch_sub(before, std::memory_order_relaxed);
    return after;
}

}  // namespace

bool count_openssl_memory() { return CRYPTO_set_mem_functions(allocate, resize, release) == 1; }

std::size_t openssl_bytes() { return held().load(std::memory_order_relaxed); }

}  // namespace live::io
