// Histogram: counts of values between fixed bounds. Recording a value takes a few comparisons and no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace live {

// `Bounds` is an ascending array; a value equal to a bound is counted in that bound's bucket. Values above the last bound have a
// bucket of their own.
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
    // Per bucket, not cumulative.
    const std::array<std::uint64_t, kPlaces>& counts() const { return counts_; }
    std::uint64_t count() const { return count_; }
    double sum() const { return sum_; }

private:
    std::array<std::uint64_t, kPlaces> counts_{};
    std::uint64_t count_ = 0;
    double sum_ = 0;
};

}  // namespace live
