// SequenceRing: values of consecutive positions, in one block of memory that doubles when full and halves when a quarter is in
// use. Its owner enforces a limit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.hpp"

namespace live::engine::srt {

template <class T>
class SequenceRing {
public:
    static constexpr std::size_t kFirstCapacity = 16;

    explicit SequenceRing(std::uint64_t first) : first_(first), end_(first) {}

    std::uint64_t begin() const { return first_; }
    std::uint64_t end() const { return end_; }
    std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
    bool empty() const { return first_ == end_; }
    bool contains(std::uint64_t position) const { return position >= first_ && position < end_; }
    std::size_t held_bytes() const { return ring_.capacity() * sizeof(T); }

    T& operator[](std::uint64_t position) {
        CHECK(contains(position));
        return ring_[place(position)];
    }
    const T& operator[](std::uint64_t position) const {
        CHECK(contains(position));
        return ring_[place(position)];
    }

    // Adds empty values up to `end`, exclusive.
    void extend(std::uint64_t end) {
        CHECK(end >= end_);
        const auto wanted = static_cast<std::size_t>(end - first_);
        if (wanted > ring_.size())
            resize(wanted);
        end_ = end;
    }
    void push_back(T value) {
        extend(end_ + 1);
        ring_[place(end_ - 1)] = std::move(value);
    }
    T pop_front() {
        CHECK(!empty());
        T value = std::exchange(ring_[place(first_)], T{});
        ++first_;
        if (ring_.size() > kFirstCapacity && size() <= ring_.size() / 4)
            resize(ring_.size() / 2);
        return value;
    }
    // Restarts at `first`. The ring must be empty.
    void restart(std::uint64_t first) {
        CHECK(empty());
        first_ = end_ = first;
    }

private:
    // The capacity is a power of two.
    std::size_t place(std::uint64_t position) const { return static_cast<std::size_t>(position) & (ring_.size() - 1); }
    void resize(std::size_t wanted) {
        std::size_t capacity = kFirstCapacity;
        while (capacity < wanted)
            capacity *= 2;
        std::vector<T> moved(capacity);
        for (std::uint64_t position = first_; position < end_; ++position)
            moved[static_cast<std::size_t>(position) & (capacity - 1)] = std::move(ring_[place(position)]);
        ring_.swap(moved);
    }

    std::vector<T> ring_;
    std::uint64_t first_;
    std::uint64_t end_;
};

}  // namespace live::engine::srt
