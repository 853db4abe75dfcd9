#include "base/log/newest_warnings.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

using Time = std::chrono::system_clock::time_point;

Time at(int second) { return Time(std::chrono::seconds(second)); }

TEST(NewestWarnings, KeepsWarningsAndErrors) {
    NewestWarnings newest;
    newest.add(at(1), LogLevel::info, "a", "started");
    newest.add(at(2), LogLevel::warn, "b", "late");
    newest.add(at(3), LogLevel::error, "c", "broken");
    ASSERT_EQ(newest.lines().size(), 2U);
    EXPECT_EQ(newest.lines()[0].text, "late");
    EXPECT_EQ(newest.lines()[0].id, "b");
    EXPECT_EQ(newest.lines()[1].level, LogLevel::error);
    EXPECT_EQ(newest.lines()[1].time, at(3));
}

TEST(NewestWarnings, CountsRepeatsAtTheTimeOfTheLast) {
    NewestWarnings newest;
    newest.add(at(1), LogLevel::warn, "a", "late");
    newest.add(at(2), LogLevel::warn, "b", "other");
    newest.add(at(3), LogLevel::warn, "c", "late");
    ASSERT_EQ(newest.lines().size(), 2U);
    EXPECT_EQ(newest.lines()[1].text, "late");
    EXPECT_EQ(newest.lines()[1].times, 2U);
    EXPECT_EQ(newest.lines()[1].time, at(3));
    EXPECT_EQ(newest.lines()[1].id, "c");
}

TEST(NewestWarnings, IsBounded) {
    NewestWarnings newest;
    for (int i = 0; i < 1000; ++i)
        newest.add(at(i), LogLevel::warn, std::string(9000, 'i'), std::to_string(i) + std::string(9000, 'x'));
    ASSERT_EQ(newest.lines().size(), NewestWarnings::kLinesMax);
    EXPECT_EQ(newest.lines().back().text.size(), NewestWarnings::kTextMax);
    EXPECT_EQ(newest.lines().back().id.size(), NewestWarnings::kTextMax);
    EXPECT_TRUE(newest.lines().front().text.starts_with("950x"));
}

}  // namespace
}  // namespace live
