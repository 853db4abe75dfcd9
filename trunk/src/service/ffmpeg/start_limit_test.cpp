#include "service/ffmpeg/start_limit.hpp"

#include <gtest/gtest.h>

namespace live::service::ffmpeg {
namespace {

TEST(StartLimit, PermitsTenStartsInAMinute) {
    StartLimit limit;
    const TimePoint begin{1h};
    for (std::size_t i = 0; i < StartLimit::kMax; ++i) {
        EXPECT_EQ(limit.next(begin + i * 1s), begin + i * 1s);
        limit.note(begin + i * 1s);
    }
    EXPECT_EQ(limit.next(begin + 10s), begin + StartLimit::kWindow);
    limit.note(begin + StartLimit::kWindow);
    EXPECT_EQ(limit.next(begin + StartLimit::kWindow), begin + 1s + StartLimit::kWindow) << "the window slides";
}

TEST(StartLimit, CanBeForgottenAfterAMinute) {
    StartLimit limit;
    EXPECT_TRUE(limit.is_idle(TimePoint{1h}));
    limit.note(TimePoint{1h});
    EXPECT_FALSE(limit.is_idle(TimePoint{1h + 59s}));
    EXPECT_TRUE(limit.is_idle(TimePoint{1h + 60s}));
}

TEST(StartLimits, KeepThoseThatCount) {
    StartLimits limits;
    const TimePoint begin{1h};
    limits.of("a", begin)->note(begin);
    const auto held = limits.of("b", begin);
    EXPECT_EQ(limits.of("a", begin + 59s)->next(begin), begin);
    EXPECT_EQ(limits.size(), 2U);
    EXPECT_NE(limits.of("c", begin + 60s), held);
    EXPECT_EQ(limits.size(), 2U) << "a is forgotten, and b has an owner";
    EXPECT_EQ(limits.of("b", begin + 60s), held);
}

}  // namespace
}  // namespace live::service::ffmpeg
