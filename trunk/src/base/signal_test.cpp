#include "base/signal.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

class CountingWaiter : public Signal::Waiter {
public:
    void on_raised() override { ++raised; }
    int raised = 0;
};

TEST(Signal, RemembersARaiseUntilItIsConsumed) {
    Signal signal;
    EXPECT_FALSE(signal.consume());
    signal.raise();
    EXPECT_TRUE(signal.is_raised());
    EXPECT_TRUE(signal.consume());
    EXPECT_FALSE(signal.is_raised());
    EXPECT_FALSE(signal.consume());
}

TEST(Signal, RepeatedRaisesCountOnce) {
    Signal signal;
    signal.raise();
    signal.raise();
    EXPECT_TRUE(signal.consume());
    EXPECT_FALSE(signal.consume());
}

TEST(Signal, WakesItsWaiterEveryTime) {
    Signal signal;
    CountingWaiter waiter;
    signal.set_waiter(&waiter);
    EXPECT_TRUE(signal.has_waiter());
    signal.raise();
    signal.raise();
    EXPECT_EQ(waiter.raised, 2);
    signal.set_waiter(nullptr);
    EXPECT_FALSE(signal.has_waiter());
    signal.raise();
    EXPECT_EQ(waiter.raised, 2);
    EXPECT_TRUE(signal.is_raised()) << "a raise nobody waits for is kept";
}

}  // namespace
}  // namespace live
