// RecordBuffers: memory for blocks of the size of a TLS record. OpenSSL takes three for each handshake and one for each write,
// and frees them soon; in the heap they would leave holes between the blocks of connections that stay. Used blocks are taken
// first, so that a write finds its block in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace live::io {

class RecordBuffers {
public:
    static constexpr std::size_t kBytesMin = 12U << 10;
    static constexpr std::size_t kBytesMax = 24U << 10;
    // Address space is reserved for `blocks` blocks. Free ones beyond kKept give their pages back.
    static constexpr std::size_t kBlocks = 8192;
    static constexpr std::size_t kKept = 16;

    explicit RecordBuffers(std::size_t blocks = kBlocks);
    ~RecordBuffers();
    RecordBuffers(const RecordBuffers&) = delete;
    RecordBuffers& operator=(const RecordBuffers&) = delete;

    // All may be called from any thread. Returns nullptr when `bytes` is outside of the bounds or all blocks are taken.
    void* allocate(std::size_t bytes);
    // Reports whether allocate() has returned `block`.
    bool owns(const void* block) const {
        const auto* at = static_cast<const std::uint8_t*>(block);
        return at >= begin_ && at < begin_ + blocks_ * kBytesMax;
    }
    void release(void* block);

private:
    const std::size_t blocks_;
    std::uint8_t* begin_ = nullptr;
    std::mutex mutex_;
    std::vector<std::uint8_t*> kept_;   // free, newest last
    std::vector<std::uint8_t*> empty_;  // free, without pages
    std::size_t used_ = 0;              // blocks that were taken once
};

}  // namespace live::io
