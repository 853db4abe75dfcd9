#include "app/start/profiler.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace live::app {

namespace {

const char* nothing(const char*) { return nullptr; }

const char* everything(const char* name) { return std::string_view(name) == "HEAPCHECK" ? "normal" : "1"; }

const char* fences_off(const char*) { return "0"; }

}  // namespace

TEST(Profiler, OrdinaryBuildHasNoProfilers) {
    EXPECT_TRUE(missing_environment(ProfilerPlan{}, nothing).empty());
    const Profiler profiler(ProfilerPlan{});
}

TEST(Profiler, ReportsALeakCheckWithoutItsVariable) {
    const ProfilerPlan plan{.leaks = true};
    ASSERT_EQ(missing_environment(plan, nothing).size(), 1u);
    EXPECT_NE(missing_environment(plan, nothing)[0].find("HEAPCHECK"), std::string::npos);
    EXPECT_TRUE(missing_environment(plan, everything).empty());
}

TEST(Profiler, PageFencesRequireTheValueOne) {
    const ProfilerPlan plan{.page_fences = true};
    EXPECT_EQ(missing_environment(plan, nothing).size(), 1u);
    EXPECT_EQ(missing_environment(plan, fences_off).size(), 1u);
    EXPECT_TRUE(missing_environment(plan, everything).empty());
}

TEST(Profiler, IgnoresAPlanWithoutItsLibrary) { const Profiler profiler(ProfilerPlan{.cpu = true, .heap = true}); }

}  // namespace live::app
