// RingQueue: a queue of small values in one block of memory, for objects that exist in large numbers and hold a few values each.
// It doubles when full and halves when a quarter is in use. A std::deque takes 576 bytes when empty and keeps allocating and
// freeing 512-byte blocks as it advances. Unbounded: the owner enforces a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "base/check.hpp"

namespace live {

template <class T>
class RingQueue {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    static constexpr std::size_t kFirstCapacity = 8;

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    // Heap memory, in addition to the object itself.
    std::size_t held_bytes() const { return ring_.capacity() * sizeof(T); }

    // Index 0 is the front.
    const T& operator[](std::size_t index) const {
        CHECK(index < size_);
        return ring_[place(index)];
    }
    const T& front() const { return (*this)[0]; }
    const T& back() const { return (*this)[size_ - 1]; }

    void push_back(const T& value) {
        if (size_ == ring_.size())
            resize(std::max(kFirstCapacity, 2 * size_));
        ring_[place(size_++)] = value;
    }
    void pop_front() {
        CHECK(size_ > 0);
        first_ = place(1);
        --size_;
        shrink();
    }
    void pop_back() {
        CHECK(size_ > 0);
        --size_;
        shrink();
    }
    // Frees all memory.
    void clear() { *this = {}; }

private:
    // The capacity is a power of two.
    std::size_t place(std::size_t index) const { return (first_ + index) & (ring_.size() - 1); }
    void shrink() {
        if (ring_.size() > kFirstCapacity && size_ <= ring_.size() / 4)
            resize(ring_.size() / 2);
    }
    void resize(std::size_t capacity) {
        std::vector<T> moved(capacity);
        for (std::size_t i = 0; i < size_; ++i)
            moved[i] = ring_[place(i)];
        ring_.swap(moved);
        first_ = 0;
    }

    std::vector<T> ring_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace live
