#include "base/bytes/bytes.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>

#include <sys/mman.h>

namespace live {

namespace {

// Size of the header before the bytes.
constexpr std::size_t kHeader = alignof(std::max_align_t);

std::uint32_t checked(std::size_t size) {
    CHECK(size <= std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(size);
}

// Returns nullptr on failure.
void* take_pages(std::size_t size) {
    void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

}  // namespace

Slice Slice::allocate(std::size_t size) {
    static_assert(sizeof(Owner) <= kHeader);
    void* memory = size >= kOwnPagesMin ? take_pages(kHeader + size) : nullptr;
    const bool has_own_pages = memory != nullptr;
    if (!has_own_pages)
        memory = std::malloc(kHeader + size);
    CHECK(memory != nullptr);
    Slice slice;
    slice.owner_ = std::construct_at(static_cast<Owner*>(memory), Owner{size, 1, has_own_pages});
    slice.data_ = static_cast<std::uint8_t*>(memory) + kHeader;
    slice.size_ = checked(size);
    return slice;
}

void Slice::give_back(Owner* owner) {
    if (owner->has_own_pages)
        ::munmap(owner, kHeader + owner->size);
    else
        std::free(owner);
}

void Slice::grow(std::size_t size) {
    CHECK(owner_ != nullptr && owner_->count == 1 && owner_->size == size_ && size >= size_);
#ifdef __linux__
    // mremap moves the pages without copying them.
    if (owner_->has_own_pages) {
        if (void* const moved = ::mremap(owner_, kHeader + size_, kHeader + size, MREMAP_MAYMOVE); moved != MAP_FAILED) {
            owner_ = static_cast<Owner*>(moved);
            owner_->size = size;
            data_ = static_cast<std::uint8_t*>(moved) + kHeader;
            size_ = checked(size);
            return;
        }
    }
#endif
    Slice longer = allocate(size);
    std::copy_n(data_, size_, longer.data_);
    *this = std::move(longer);
}

void Slice::shrink(std::size_t size) {
    CHECK(owner_ != nullptr && owner_->count == 1 && owner_->size == size_ && size <= size_);
    void* memory = owner_;
    if (owner_->has_own_pages) {
#ifdef __linux__
        memory = ::mremap(owner_, kHeader + size_, kHeader + size, 0);
#endif
    } else {
        memory = std::realloc(owner_, kHeader + size);
    }
    CHECK(memory != nullptr && memory != MAP_FAILED);
    owner_ = static_cast<Owner*>(memory);
    owner_->size = size;
    data_ = static_cast<std::uint8_t*>(memory) + kHeader;
    size_ = checked(size);
}

Slice Slice::copy_of(Bytes bytes) {
    Slice slice = allocate(bytes.size());
    if (!bytes.empty())
        std::memcpy(slice.data_, bytes.data(), bytes.size());
    return slice;
}

Slice Slice::sub(std::size_t offset, std::size_t count) const {
    CHECK(offset <= size_ && count <= size_ - offset);
    Slice part(*this);
    part.data_ += offset;
    part.size_ = static_cast<std::uint32_t>(count);
    return part;
}

}  // namespace live
