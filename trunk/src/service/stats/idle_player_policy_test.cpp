#include "service/stats/idle_player_policy.hpp"

#include <gtest/gtest.h>

namespace live::service::stats {
namespace {

using Verdict = IdlePlayerPolicy::Verdict;

constexpr TimePoint kStart{std::chrono::hours(1)};
const media::PlayOptions kOptions;  // 30 s, 10 min

TEST(IdlePlayerPolicy, StalledPlayerEndsAtTheLimit) {
    IdlePlayerPolicy patience;
    EXPECT_EQ(patience.look(kStart, {100, true, true}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 29'999ms, {100, true, true}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 30s, {100, true, true}, kOptions), Verdict::stalled);
}

TEST(IdlePlayerPolicy, ReceivedBytesOrAnEmptyQueueRestartTheLimit) {
    IdlePlayerPolicy patience;
    patience.look(kStart, {100, true, true}, kOptions);
    EXPECT_EQ(patience.look(kStart + 30s, {101, true, true}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 60s, {101, false, true}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 89s, {101, true, true}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 90s, {101, true, true}, kOptions), Verdict::stalled);
}

TEST(IdlePlayerPolicy, WaitingPlayerEndsAtTheLimit) {
    IdlePlayerPolicy patience;
    EXPECT_EQ(patience.look(kStart, {0, false, false}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 9min, {0, false, true}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 19min - 1ms, {0, false, false}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 19min, {0, false, false}, kOptions), Verdict::unpublished);
}

TEST(IdlePlayerPolicy, IgnoresPausesOfTheProcess) {
    IdlePlayerPolicy patience;
    patience.look(kStart, {100, true, false}, kOptions);
    EXPECT_EQ(patience.looked_at(), kStart);
    EXPECT_EQ(patience.look(kStart + 1h, {100, true, false, 1h - 29s}, kOptions), Verdict::stays);
    EXPECT_EQ(patience.look(kStart + 1h + 1s, {100, true, false}, kOptions), Verdict::stalled);
}

TEST(IdlePlayerPolicy, ZeroDisablesTheLimit) {
    media::PlayOptions options;
    options.stall_timeout = options.unpublished_timeout = 0s;
    IdlePlayerPolicy patience;
    patience.look(kStart, {100, true, false}, options);
    EXPECT_EQ(patience.look(kStart + 24h, {100, true, false}, options), Verdict::stays);
}

}  // namespace
}  // namespace live::service::stats
