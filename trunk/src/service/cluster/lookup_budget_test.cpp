#include "service/cluster/lookup_budget.hpp"

#include <gtest/gtest.h>

namespace live::service::cluster {
namespace {

TEST(LookupBudget, BoundsLookupsInFloodOfNames) {
    LookupBudget budget;
    TimePoint now{std::chrono::hours(1)};
    int asked = 0;
    for (int i = 0; i < 10'000; ++i)
        asked += budget.take(now) ? 1 : 0;
    EXPECT_EQ(asked, static_cast<int>(LookupBudget::kBurst));
    for (int second = 0; second < 10; ++second)
        for (int i = 0; i < 1'000; ++i)
            asked += budget.take(now += std::chrono::milliseconds(1)) ? 1 : 0;
    EXPECT_NEAR(asked, LookupBudget::kBurst + 10 * LookupBudget::kPerSecond, 1);
}

TEST(LookupBudget, SavesAtMostOneBurst) {
    LookupBudget budget;
    TimePoint now{std::chrono::hours(1)};
    EXPECT_TRUE(budget.take(now));
    now += std::chrono::hours(5);
    int asked = 0;
    while (budget.take(now))
        ++asked;
    EXPECT_EQ(asked, static_cast<int>(LookupBudget::kBurst));
    EXPECT_FALSE(budget.take(now - std::chrono::hours(1))) << "an earlier time adds nothing";
}

}  // namespace
}  // namespace live::service::cluster
