#include "base/check.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(Check, EvaluatesItsConditionOnce) {
    int evaluated = 0;
    CHECK(++evaluated == 1);
    EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, AbortsWithTheConditionAndItsPlace) {
    EXPECT_EXIT(CHECK(1 + 1 == 3), testing::KilledBySignal(SIGABRT), "CHECK failed: 1 \\+ 1 == 3 at .*check_test\\.cpp:[0-9]+");
}

TEST(CheckDeathTest, WritesLineNumbersOfAnySize) {
    EXPECT_DEATH(check_failed("x", "file", 0), "CHECK failed: x at file:0");
    EXPECT_DEATH(check_failed("x", "file", 2147483647), "CHECK failed: x at file:2147483647");
}

}  // namespace
}  // namespace live
