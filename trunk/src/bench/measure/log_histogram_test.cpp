#include "bench/measure/log_histogram.hpp"

#include <gtest/gtest.h>

namespace live::bench {
namespace {

TEST(LogHistogram, SmallValuesAreExact) {
    LogHistogram values;
    for (std::uint64_t value = 0; value < 64; ++value)
        values.add(value);
    EXPECT_EQ(values.quantile(0.5), 31U);
    EXPECT_EQ(values.quantile(1), 63U);
    EXPECT_EQ(values.count(), 64U);
}

TEST(LogHistogram, QuantilesAreRightToThreePercent) {
    LogHistogram values;
    for (std::uint64_t value = 1; value <= 100'000; ++value)
        values.add(value);
    for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999}) {
        const double wanted = share * 100'000;
        EXPECT_NEAR(static_cast<double>(values.quantile(share)), wanted, wanted * 0.032) << share;
    }
    EXPECT_EQ(values.quantile(1), 100'000U);
}

TEST(LogHistogram, EveryValueHasAPlace) {
    for (int bit = 0; bit < 64; ++bit) {
        for (const std::uint64_t value :
             {(std::uint64_t{1} << bit) - 1, std::uint64_t{1} << bit, (std::uint64_t{1} << bit) + 1}) {
            LogHistogram values;
            values.add(value);
            EXPECT_EQ(values.quantile(0.5), std::min(value, LogHistogram::kValueMax)) << value;
        }
    }
}

TEST(LogHistogram, IsEmptyAtFirstAndAfterClear) {
    LogHistogram values;
    EXPECT_EQ(values.quantile(0.5), 0U);
    values.add(9);
    values.clear();
    EXPECT_EQ(values.count(), 0U);
    EXPECT_EQ(values.max(), 0U);
}

}  // namespace
}  // namespace live::bench
