#include "base/histogram.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

constexpr std::array kBounds = {1.0, 10.0};

TEST(Histogram, CountsAValueInTheFirstBoundAtOrAboveIt) {
    Histogram<kBounds> histogram;
    for (const double value : {0.0, 1.0, 1.5, 10.0, 11.0, 1e9})
        histogram.add(value);
    EXPECT_EQ(histogram.counts(), (std::array<std::uint64_t, 3>{2, 2, 2}));
    EXPECT_EQ(histogram.count(), 6U);
    EXPECT_DOUBLE_EQ(histogram.sum(), 1e9 + 23.5);
}

TEST(Histogram, CountsManyAtOnce) {
    Histogram<kBounds> histogram;
    histogram.add(2.0, 1000);
    EXPECT_EQ(histogram.counts(), (std::array<std::uint64_t, 3>{0, 1000, 0}));
    EXPECT_DOUBLE_EQ(histogram.sum(), 2000.0);
}

}  // namespace
}  // namespace live
