#include "base/bytes.hpp"

#include <cstring>
#include <memory>

namespace live {

Slice Slice::allocate(std::size_t size) {
    constexpr std::size_t kHeader = alignof(std::max_align_t);
    static_assert(sizeof(Owner) <= kHeader);
    void* memory = std::malloc(kHeader + size);
    CHECK(memory != nullptr);
    Slice slice;
    slice.owner_ = std::construct_at(static_cast<Owner*>(memory), Owner{size, 1});
    slice.data_ = static_cast<std::uint8_t*>(memory) + kHeader;
    slice.size_ = size;
    return slice;
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
    part.size_ = count;
    return part;
}

}  // namespace live
