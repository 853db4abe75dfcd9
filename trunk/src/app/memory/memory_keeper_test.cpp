#include "app/memory/memory_keeper.hpp"

#include <gtest/gtest.h>

namespace live::app {
namespace {

constexpr const char* kMeminfo = "MemTotal:       16000000 kB\nMemFree:         1000 kB\n";

TEST(MemoryBudgetOf, IsHalfOfTheSmallerOfMachineAndGroup) {
    EXPECT_EQ(memory_budget_of("", kMeminfo), 8'000'000ULL << 10);
    EXPECT_EQ(memory_budget_of("max\n", kMeminfo), 8'000'000ULL << 10);
    EXPECT_EQ(memory_budget_of("536870912\n", kMeminfo), 256ULL << 20);
    EXPECT_EQ(memory_budget_of("9223372036854771712\n", kMeminfo), 8'000'000ULL << 10) << "version 1 of groups without a limit";
}

TEST(MemoryBudgetOf, HasADefaultForUnknownMemory) {
    EXPECT_EQ(memory_budget_of("", ""), 1ULL << 30);
    EXPECT_EQ(memory_budget_of("nonsense", "MemTotal: kB"), 1ULL << 30);
}

TEST(MemoryBudgetOf, IsSomethingHere) { EXPECT_GT(usual_memory_budget(), 16U << 20); }

}  // namespace
}  // namespace live::app
