// Bytes borrows, Slice owns. Bytes and MutBytes are parameters, never members that outlive the call. A Slice is a counted owner
// plus a range of it; copying one copies a pointer, never the bytes. Each keeps all of the memory it is a part of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace live {

using Bytes = std::span<const std::uint8_t>;
using MutBytes = std::span<std::uint8_t>;

inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class Slice {
public:
    // From so many bytes on a Slice has pages of its own, which go back to the system with it. In the heap they would stay.
    static constexpr std::size_t kOwnPagesMin = 512 << 10;

    Slice() = default;
    Slice(const Slice& other) : owner_(other.owner_), data_(other.data_), size_(other.size_) { retain(); }
    Slice(Slice&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)),
          data_(std::exchange(other.data_, nullptr)),
          size_(std::exchange(other.size_, 0)) {}
    ~Slice() { release(); }
    Slice& operator=(Slice other) noexcept {
        std::swap(owner_, other.owner_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    // `size` bytes of fresh memory, not initialised; aborts above 4 GiB. The caller has checked the size against its own limit.
    static Slice allocate(std::size_t size);
    static Slice copy_of(Bytes bytes);

    // Makes a whole one longer, for who may write to it. The new bytes at its end are not initialised; what was borrowed is void.
    void grow(std::size_t size);

    Bytes bytes() const { return {data_, size_}; }
    const std::uint8_t* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    // The same memory, a part of the range; aborts when the part is not inside.
    Slice sub(std::size_t offset, std::size_t count) const;
    Slice sub(std::size_t offset) const { return sub(offset, size_ - offset); }

    // Which memory it is a part of: the same for those that share it, nullptr without any.
    const void* memory() const { return owner_; }
    // How much that is.
    std::size_t memory_bytes() const { return owner_ == nullptr ? 0 : owner_->size; }

    // The bytes for writing; only for who has just allocated the Slice and shares it with nobody.
    MutBytes mutable_bytes() {
        CHECK(owner_ == nullptr || owner_->count == 1);
        return {data_, size_};
    }

private:
    struct Owner {
        std::size_t size;
        std::uint32_t count;
        bool has_own_pages;
    };

    void retain() {
        if (owner_ != nullptr)
            ++owner_->count;
    }
    void release() {
        if (owner_ != nullptr && --owner_->count == 0)
            give_back(owner_);
    }
    static void give_back(Owner* owner);

    Owner* owner_ = nullptr;
    std::uint8_t* data_ = nullptr;
    std::uint32_t size_ = 0;  // last and short: a [[no_unique_address]] neighbour may use what is behind it
};

}  // namespace live
