#include "engine/dtls/goodbye_watch.hpp"

#include <gtest/gtest.h>

namespace live::engine::dtls {
namespace {

const TimePoint kBegin{};

// A peer that sends every `pause`; returns the time of the last packet.
TimePoint speak(GoodbyeWatch& watch, std::chrono::milliseconds pause) {
    TimePoint now = kBegin;
    for (int i = 0; i < 5; ++i)
        watch.on_authentic(now += pause);
    return now;
}

TEST(GoodbyeWatch, ASilentPeerHasNotLeftWithoutAGoodbye) {
    GoodbyeWatch watch;
    const TimePoint now = speak(watch, 100ms);
    EXPECT_FALSE(watch.next_timeout());
    EXPECT_FALSE(watch.has_left(now + 1h));
}

TEST(GoodbyeWatch, SilenceAfterAGoodbyeIsTwiceTheLongestPauseWithinBounds) {
    struct Row {
        std::chrono::milliseconds pause;
        std::chrono::milliseconds silence;
    };
    for (const Row& row : {Row{100ms, 1s}, Row{500ms, 1s}, Row{700ms, 1'400ms}, Row{2'500ms, 5s}, Row{5s, 6s}}) {
        GoodbyeWatch watch;
        const TimePoint goodbye = speak(watch, row.pause) + 1ms;
        watch.on_alert(goodbye);
        EXPECT_EQ(watch.next_timeout(), goodbye + row.silence) << row.pause.count();
        EXPECT_FALSE(watch.has_left(goodbye + row.silence - 1ms));
        EXPECT_TRUE(watch.has_left(goodbye + row.silence));
    }
}

TEST(GoodbyeWatch, ASilentNewPeerGetsTheWholeTime) {
    GoodbyeWatch watch;
    watch.on_alert(kBegin);
    EXPECT_EQ(watch.next_timeout(), kBegin + GoodbyeWatch::kSilenceMax);
}

TEST(GoodbyeWatch, IgnoresAGoodbyeIfThePeerKeepsSending) {
    GoodbyeWatch watch;
    const TimePoint now = speak(watch, 100ms);
    watch.on_alert(now);
    watch.on_authentic(now + GoodbyeWatch::kReordering);
    EXPECT_FALSE(watch.next_timeout());
}

TEST(GoodbyeWatch, ReorderedPacketsDoNotCancelTheGoodbye) {
    GoodbyeWatch watch;
    const TimePoint now = speak(watch, 100ms);
    watch.on_alert(now);
    watch.on_authentic(now + GoodbyeWatch::kReordering - 1ms);
    EXPECT_TRUE(watch.has_left(now + 1s));
}

TEST(GoodbyeWatch, FurtherAlertsDoNotDelayTheEnd) {
    GoodbyeWatch watch;
    const TimePoint now = speak(watch, 100ms);
    watch.on_alert(now);
    watch.on_alert(now + 900ms);
    EXPECT_TRUE(watch.has_left(now + 1s));
}

}  // namespace
}  // namespace live::engine::dtls
