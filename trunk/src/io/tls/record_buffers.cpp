#include "io/tls/record_buffers.hpp"

#include <sys/mman.h>

namespace live::io {

RecordBuffers::RecordBuffers(std::size_t blocks) : blocks_(blocks) {
    void* const space =
        ::mmap(nullptr, blocks_ * kBytesMax, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space != MAP_FAILED)
        begin_ = static_cast<std::uint8_t*>(space);
    else
        used_ = blocks_;
    kept_.reserve(kKept);
}

RecordBuffers::~RecordBuffers() {
    if (begin_ != nullptr)
        ::munmap(begin_, blocks_ * kBytesMax);
}

void* RecordBuffers::allocate(std::size_t bytes) {
    if (bytes < kBytesMin || bytes > kBytesMax)
        return nullptr;
    const std::scoped_lock lock(mutex_);
    for (auto* free : {&kept_, &empty_}) {
        if (free->empty())
            continue;
        std::uint8_t* const block = free->back();
        free->pop_back();
        return block;
    }
    return used_ < blocks_ ? begin_ + kBytesMax * used_++ : nullptr;
}

void RecordBuffers::release(void* block) {
    auto* const freed = static_cast<std::uint8_t*>(block);
    const std::scoped_lock lock(mutex_);
    if (kept_.size() < kKept) {
        kept_.push_back(freed);
        return;
    }
    ::madvise(freed, kBytesMax, MADV_DONTNEED);
    empty_.push_back(freed);
}

}  // namespace live::io
