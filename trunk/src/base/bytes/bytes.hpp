// Bytes borrows, Slice owns. Bytes and MutBytes are parameters, never members that outlive the call. A Slice is a range of a
// counted owner; copying it copies a pointer, never the bytes. Any Slice keeps the whole underlying allocation alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/check.hpp"

namespace live {

using Bytes = std::span<const std::uint8_t>;
using MutBytes = std::span<std::uint8_t>;

// Copies all of `from` to the beginning of `into`, and returns the rest of `into`. They may overlap. GCC 12 compiles
// std::ranges::copy to a loop over single bytes, which takes ten times as long.
inline MutBytes copy_bytes(Bytes from, MutBytes into) {
    CHECK(from.size() <= into.size());
    if (!from.empty())
        std::memmove(into.data(), from.data(), from.size());
    return into.subspan(from.size());
}

inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

class Slice {
public:
    // At this size and above a Slice gets its own pages, which return to the system when it is freed; heap memory would not.
    static constexpr std::size_t kOwnPagesMin = 64 << 10;

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

    // Allocates `size` uninitialised bytes; aborts above 4 GiB. Callers check the size against their own limit first.
    static Slice allocate(std::size_t size);
    static Slice copy_of(Bytes bytes);

    // Extends a Slice that covers its whole allocation and is not shared. The added bytes are uninitialised; borrowed spans
    // become invalid.
    void grow(std::size_t size);

    // Gives the memory after the first `size` bytes back. For a Slice as for grow(); borrowed spans become invalid.
    void shrink(std::size_t size);

    Bytes bytes() const { return {data_, size_}; }
    const std::uint8_t* data() const { return data_; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    // A sub-range of the same memory; aborts when it is out of bounds.
    Slice sub(std::size_t offset, std::size_t count) const;
    Slice sub(std::size_t offset) const { return sub(offset, size_ - offset); }

    // Identifies the underlying memory: equal for Slices that share it, nullptr for an empty Slice.
    const void* memory() const { return owner_; }
    // Size of that memory.
    std::size_t memory_bytes() const { return owner_ == nullptr ? 0 : owner_->size; }

    // Reports whether no other Slice shares the memory.
    bool is_alone() const { return owner_ != nullptr && owner_->count == 1; }
    // Reports whether it is the only owner of separate pages: any thread may then free it.
    bool is_alone_on_pages() const { return owner_ != nullptr && owner_->has_own_pages && owner_->count == 1; }

    // The bytes for writing; only while the Slice is newly allocated and not shared.
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
    std::uint32_t size_ = 0;  // last and short: a [[no_unique_address]] neighbour may use the padding after it
};

}  // namespace live
