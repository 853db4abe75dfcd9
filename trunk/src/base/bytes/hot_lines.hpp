// HotLines: cache lines that an operation is known to touch, prefetched while other work runs. Useful where one pass visits
// thousands of objects that do not fit into the cache together; session/rtc/transport/players_bench.cpp measures the gain.
// Stale addresses are harmless: a prefetch reads nothing and cannot fault.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace live {

class HotLines {
public:
    static constexpr std::size_t kLineBytes = 64;
    // Lines beyond this are not prefetched.
    static constexpr std::size_t kMax = 48;

    void add(const void* begin, std::size_t bytes) {
        const auto first = reinterpret_cast<std::uintptr_t>(begin) / kLineBytes;
        const auto last = (reinterpret_cast<std::uintptr_t>(begin) + bytes - 1) / kLineBytes;
        for (auto line = first; bytes > 0 && line <= last && size_ < kMax; ++line)
            lines_[size_++] = reinterpret_cast<const void*>(line * kLineBytes);
    }
    // The range from the first to the last member of one object.
    template <class First, class Last>
    void add_range(const First& first, const Last& last) {
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(&first);
        add(begin, static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(&last + 1) - begin));
    }
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }

    void fetch() const {
        for (std::size_t i = 0; i < size_; ++i)
            __builtin_prefetch(lines_[i]);
    }

private:
    std::array<const void*, kMax> lines_{};
    std::size_t size_ = 0;
};

// Prefetches memory that is about to be written.
inline void prefetch(const void* begin, std::size_t bytes) {
    const auto* const first = static_cast<const std::uint8_t*>(begin);
    for (std::size_t at = 0; at < bytes; at += HotLines::kLineBytes)
        __builtin_prefetch(first + at, 1);
}

// The same for the members of one object from `first` to `last`.
template <class First, class Last>
void prefetch_members(const First& first, const Last& last) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(&first);
    prefetch(begin, static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(&last + 1) - begin));
}

}  // namespace live
