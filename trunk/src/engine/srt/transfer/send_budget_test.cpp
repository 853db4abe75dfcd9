#include "engine/srt/transfer/send_budget.hpp"

#include <gtest/gtest.h>

namespace live::engine::srt {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SrtInputRate, IsTheDensestWindowAndForgetsIt) {
    InputRate rate;
    EXPECT_EQ(rate.bytes_per_second(), 0);
    rate.add(Micros(0), 1'000'000);
    EXPECT_EQ(rate.bytes_per_second(), 25'000'000) << "at once";
    Micros now{};
    for (; now < seconds(1); now += milliseconds(40))
        rate.add(now, 10'000);
    EXPECT_GT(rate.bytes_per_second(), 10'000'000);
    for (; now < seconds(8); now += milliseconds(40))
        rate.add(now, 10'000);
    EXPECT_EQ(rate.bytes_per_second(), 250'000);
    rate.add(now + std::chrono::hours(1), 1);
    EXPECT_EQ(rate.bytes_per_second(), 25);
}

TEST(SrtResendBudget, IsAShareOfNewBytesWithAMinimum) {
    ResendBudget budget;
    Micros now{};
    std::size_t spent = 0;
    std::size_t fresh = 0;
    for (; now < seconds(20); now += milliseconds(1)) {
        budget.add_new(now, 500);
        fresh += 500;
        while (budget.affordable_at() <= now) {
            budget.spend(now, 1'000);
            spent += 1'000;
        }
    }
    const std::size_t bound = ResendBudget::kSaved + fresh / 4 + 20 * ResendBudget::kFloor;
    EXPECT_LE(spent, bound + 1'000);
    EXPECT_GE(spent, bound - 2'000) << "and all of it is there";
    EXPECT_GT(budget.affordable_at(), now - milliseconds(1));
    EXPECT_LE(budget.affordable_at(), now + milliseconds(20));
}

TEST(SrtResendBudget, SavesASecondOfTheStream) {
    ResendBudget budget;
    Micros now{};
    const auto spend_all = [&] {
        std::size_t spent = 0;
        while (budget.affordable_at() <= now) {
            budget.spend(now, 1'000);
            spent += 1'000;
        }
        return spent;
    };
    for (; now < seconds(30); now += milliseconds(1))
        budget.add_new(now, 5'000);
    EXPECT_NEAR(static_cast<double>(spend_all()), 5'000'000, 20'000);
    now += std::chrono::hours(1);
    budget.add_new(now, 1);
    EXPECT_LE(spend_all(), 5'001'000U);
}

}  // namespace
}  // namespace live::engine::srt
