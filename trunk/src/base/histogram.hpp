// Histogram: how often values fell between fixed bounds. Counting is a few comparisons; nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace live {

// `Bounds` is an ascending array of numbers; a value equal to a bound belongs to it. What is above the last has a place of its
// own.
template <const auto& Bounds>
class Histogram {
public:
    static constexpr std::size_t kPlaces = std::size(Bounds) + 1;

    void add(double value, std::uint64_t times = 1) {
        std::size_t place = 0;
        while (place < std::size(Bounds) && value > Bounds[place])
            ++place;
        counts_[place] += times;
        count_ += times;
        sum_ += value * static_cast<double>(times);
    }

    static constexpr const auto& bounds() { return Bounds; }
    // By place, not cumulative.
    const std::array<std::uint64_t, kPlaces>& counts() const { return counts_; }
    std::uint64_t count() const { return count_; }
    double sum() const { return sum_; }

private:
    std::array<std::uint64_t, kPlaces> counts_{};
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

}  // namespace live
