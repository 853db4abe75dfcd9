#include "supervisor/decisions/retirement.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace live::supervisor {
namespace {

using Next = Retirement::Next;

// The parent of the new programs, in the foreground.
Retirement in_foreground() { return Retirement({.stays = true}); }
// The first process of an upgrade in the background: it connects the others.
Retirement in_background() { return Retirement({.stays = false, .others_min = 1}); }

TEST(Retirement, StaysInTheForegroundUntilTheNewProgramEnds) {
    Retirement retirement = in_foreground();
    EXPECT_EQ(retirement.look(2, true), Next::wait);
    EXPECT_EQ(retirement.look(1, true), Next::wait);
    EXPECT_EQ(retirement.look(0, false), Next::end);
}

TEST(Retirement, InTheBackgroundOneOtherProcessIsLeftAlone) {
    Retirement retirement = in_background();
    EXPECT_EQ(retirement.look(2, true), Next::wait) << "it connects them";
    EXPECT_EQ(retirement.look(1, true), Next::end);
}

TEST(Retirement, EndOfTheNewestEndsTheOthersOnce) {
    Retirement retirement = in_foreground();
    EXPECT_EQ(retirement.look(3, false), Next::terminate_others);
    EXPECT_EQ(retirement.look(3, false), Next::wait) << "they have the signal";
    EXPECT_EQ(retirement.look(1, false), Next::wait);
    EXPECT_EQ(retirement.look(0, false), Next::end);
}

// A master in the background has no process for the newest program: that is another one's child.
TEST(Retirement, NewestIsOptional) {
    Retirement retirement({.stays = false, .follows_newest = false});
    EXPECT_EQ(retirement.look(2, false), Next::wait);
    EXPECT_EQ(retirement.look(0, false), Next::end);
}

TEST(Retirement, ForegroundForwardsSignalsOfTheServer) {
    const Retirement retirement = in_foreground();
    for (const int number : {SIGHUP, SIGUSR1, SIGUSR2}) {
        const auto on = retirement.on_signal(number);
        EXPECT_TRUE(on.forwards_to_newest) << number;
        EXPECT_FALSE(on.stops_others || on.ends) << number;
        EXPECT_EQ(on.reopens_logs, number == SIGUSR1);
    }
}

TEST(Retirement, ForegroundStopsTheOthersAndWaitsForThem) {
    const Retirement retirement = in_foreground();
    for (const int number : {SIGTERM, SIGINT, SIGQUIT}) {
        const auto on = retirement.on_signal(number);
        EXPECT_TRUE(on.stops_others) << number;
        EXPECT_FALSE(on.ends || on.forwards_to_newest || on.reopens_logs) << number;
    }
}

// The pid file names the new program: signals for the server go there.
TEST(Retirement, BackgroundEndsAloneAndForwardsNothing) {
    const Retirement retirement = in_background();
    for (const int number : {SIGTERM, SIGINT, SIGQUIT}) {
        const auto on = retirement.on_signal(number);
        EXPECT_TRUE(on.ends) << number;
        EXPECT_FALSE(on.stops_others) << number;
    }
    for (const int number : {SIGHUP, SIGUSR2}) {
        const auto on = retirement.on_signal(number);
        EXPECT_FALSE(on.forwards_to_newest || on.ends || on.reopens_logs) << number;
    }
    EXPECT_TRUE(retirement.on_signal(SIGUSR1).reopens_logs) << "it writes to the same log";
}

TEST(Retirement, OtherSignalsAreIgnored) {
    for (const bool stays : {true, false}) {
        const auto on = Retirement({.stays = stays}).on_signal(SIGCHLD);
        EXPECT_FALSE(on.reopens_logs || on.stops_others || on.forwards_to_newest || on.ends);
    }
}

}  // namespace
}  // namespace live::supervisor
