#include "base/check.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace live {

// Not in the namespace without a name: such functions are not exported.
void fail_a_check_in_a_test();
[[gnu::noinline]] void fail_a_check_in_a_test() { CHECK(1 + 1 == 3); }

namespace {

TEST(Check, EvaluatesItsConditionOnce) {
    int evaluated = 0;
    CHECK(++evaluated == 1);
    EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, AbortsWithTheConditionAndItsPlace) {
    EXPECT_EXIT(CHECK(1 + 1 == 3), testing::KilledBySignal(SIGABRT), "CHECK failed: 1 \\+ 1 == 3 at .*check_test\\.cpp:[0-9]+");
}

#ifdef LIVE_BACKTRACE
TEST(CheckDeathTest, NamesTheCallers) {
    EXPECT_DEATH(fail_a_check_in_a_test(), "CHECK failed: .*\n(.*\n)*.*live22fail_a_check_in_a_test");
}
#endif

TEST(CheckDeathTest, WritesLineNumbersOfAnySize) {
    EXPECT_DEATH(check_failed("x", "file", 0), "CHECK failed: x at file:0");
    EXPECT_DEATH(check_failed("x", "file", 2147483647), "CHECK failed: x at file:2147483647");
}

}  // namespace
}  // namespace live
