// Histogram whose class width grows with the value, so that a percentile is right to 3 % from a millionth to millions, while
// counting costs a few instructions and the memory is fixed. base/histogram.hpp has configurable bounds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace live::bench {

class LogHistogram {
public:
    // Larger values count as this.
    static constexpr std::uint64_t kValueMax = (std::uint64_t{1} << 40) - 1;

    void add(std::uint64_t value) {
        value = std::min(value, kValueMax);
        ++counts_[place_of(value)];
        ++count_;
        max_ = std::max(max_, value);
    }
    std::uint64_t count() const { return count_; }
    std::uint64_t max() const { return max_; }

    // The value that `share` (0..1) of all values do not exceed: the upper end of its class, at most max(). 0 without values.
    std::uint64_t quantile(double share) const {
        const auto wanted = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(share * static_cast<double>(count_) + 0.5));
        std::uint64_t seen = 0;
        for (std::size_t place = 0; place < kPlaces; ++place) {
            seen += counts_[place];
            if (count_ > 0 && seen >= wanted)
                return std::min(upper_end(place), max_);
        }
        return max_;
    }

    void clear() {
        counts_.fill(0);
        count_ = 0;
        max_ = 0;
    }

private:
    static constexpr int kBits = 5;  // classes per doubling: 32
    static constexpr std::size_t kPlaces = (40 - kBits + 1) << kBits;

    static std::size_t place_of(std::uint64_t value) {
        const auto width = static_cast<int>(std::bit_width(value));
        if (width <= kBits + 1)
            return static_cast<std::size_t>(value);
        const int shift = width - kBits - 1;
        return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
    }
    static std::uint64_t upper_end(std::size_t place) {
        if (place < (std::size_t{2} << kBits))
            return place;
        const std::size_t shift = (place >> kBits) - 1;
        const std::uint64_t top = (place & ((1U << kBits) - 1)) + (1U << kBits);
        return ((top + 1) << shift) - 1;
    }

    std::array<std::uint64_t, kPlaces> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace live::bench
