#include "io/tls/openssl_memory.hpp"

#include <malloc.h>
#include <openssl/crypto.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "io/tls/record_buffers.hpp"

namespace live::io {
namespace {

// OpenSSL's hooks take no context pointer. Atomic because worker threads make keys too.
std::atomic<std::size_t>& held() {
    static std::atomic<std::size_t> bytes{0};
    return bytes;
}

// Lives as long as OpenSSL, which frees blocks at exit.
RecordBuffers& record_buffers() {
    static RecordBuffers* const buffers = std::make_unique<RecordBuffers>().release();
    return *buffers;
}

std::size_t size_of(void* block) { return record_buffers().owns(block) ? RecordBuffers::kBytesMax : malloc_usable_size(block); }

void* counted(void* block) {
    if (block != nullptr)
        held().fetch_add(size_of(block), std::memory_order_relaxed);
    return block;
}

void release(void* block, const char* /*file*/, int /*line*/) {
    if (block == nullptr)
        return;
    held().fetch_sub(size_of(block), std::memory_order_relaxed);
    if (record_buffers().owns(block))
        record_buffers().release(block);
    else
        std::free(block);
}

void* allocate(std::size_t bytes, const char* /*file*/, int /*line*/) {
    void* const block = record_buffers().allocate(bytes);
    return counted(block != nullptr ? block : std::malloc(bytes));
}

void* resize(void* block, std::size_t bytes, const char* file, int line) {
    if (bytes == 0) {
        release(block, file, line);
        return nullptr;
    }
    const std::size_t before = block != nullptr ? size_of(block) : 0;
    if (block == nullptr || record_buffers().owns(block)) {
        if (block != nullptr && bytes <= before)
            return block;
        void* const larger = allocate(bytes, file, line);
        if (larger != nullptr && block != nullptr) {
            std::memcpy(larger, block, before);
            release(block, file, line);
        }
        return larger;
    }
    void* const after = counted(std::realloc(block, bytes));
    if (after != nullptr)
        held().fetch_sub(before, std::memory_order_relaxed);
    return after;
}

}  // namespace

bool count_openssl_memory() { return CRYPTO_set_mem_functions(allocate, resize, release) == 1; }

std::size_t openssl_bytes() { return held().load(std::memory_order_relaxed); }

}  // namespace live::io
