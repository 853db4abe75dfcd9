#include "engine/s3/pace.hpp"

#include <gtest/gtest.h>

namespace live::engine::s3 {
namespace {

TEST(Pace, PausesGrowAndEndWithASuccess) {
    Pace pace(4);
    TimePoint now{};
    for (const auto pause : {500ms, 1000ms, 2000ms, 4000ms}) {
        EXPECT_TRUE(pace.may_begin(now, 0));
        pace.failed(Trouble::unreachable, now, 0);
        pace.failed(Trouble::unreachable, now, 0);
        EXPECT_EQ(pace.paused_until() - now, pause) << "those that fail together count once";
        EXPECT_FALSE(pace.may_begin(now, 0));
        now = pace.paused_until();
    }
    for (int i = 0; i < 20; ++i) {
        pace.failed(Trouble::denied, now, UINT32_MAX);
        EXPECT_LE(pace.paused_until() - now, Pace::kPauseGreatest * 5 / 4);
        now = pace.paused_until();
    }
    pace.succeeded();
    pace.failed(Trouble::unreachable, now, 0);
    EXPECT_EQ(pace.paused_until() - now, Pace::kPauseFirst);
    EXPECT_EQ(pace.allowed(), 4U);
}

TEST(Pace, SendsLessToAServerThatAsksForIt) {
    Pace pace(8);
    TimePoint now{};
    for (const auto allowed : {4U, 2U, 1U, 1U}) {
        pace.failed(Trouble::slow_down, now, 0);
        EXPECT_EQ(pace.allowed(), allowed);
        now = pace.paused_until();
        EXPECT_TRUE(pace.may_begin(now, allowed - 1));
        EXPECT_FALSE(pace.may_begin(now, allowed));
    }
    for (std::uint32_t i = 0; i < Pace::kSuccessesPerStep * 20; ++i)
        pace.succeeded();
    EXPECT_EQ(pace.allowed(), 8U);
    pace.set_parallel(3);
    EXPECT_EQ(pace.allowed(), 3U);
}

}  // namespace
}  // namespace live::engine::s3
