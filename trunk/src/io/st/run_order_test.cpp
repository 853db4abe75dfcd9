#include "io/st/run_order.hpp"

#include <gtest/gtest.h>

namespace live::io::st {
namespace {

TEST(RunOrder, QueuesUrgentFibersAhead) {
    RunOrder order;
    EXPECT_TRUE(order.queue_urgent());
    EXPECT_TRUE(order.queue_urgent());
    EXPECT_EQ(order.waiting(), 2U);
    order.run_urgent();
    order.run_urgent();
    EXPECT_EQ(order.waiting(), 0U);
}

TEST(RunOrder, BoundsTheUrgentFibersInARow) {
    RunOrder order;
    for (std::uint32_t i = 0; i < RunOrder::kUrgentInRowMax; ++i)
        EXPECT_TRUE(order.queue_urgent());
    EXPECT_FALSE(order.queue_urgent()) << "as many wait as may run in a row";
    for (std::uint32_t i = 0; i < RunOrder::kUrgentInRowMax; ++i)
        order.run_urgent();
    EXPECT_FALSE(order.queue_urgent()) << "as many have run";
    order.run_other();
    EXPECT_TRUE(order.queue_urgent());
}

// Urgent fibers that keep waking each other.
TEST(RunOrder, OthersRunWhileUrgentFibersNeverStop) {
    RunOrder order;
    std::uint32_t others = 0;
    for (int i = 0; i < 10'000; ++i) {
        if (order.queue_urgent()) {
            order.run_urgent();
        } else {
            order.run_other();
            ++others;
        }
    }
    EXPECT_GE(others, 10'000 / (RunOrder::kUrgentInRowMax + 1));
}

}  // namespace
}  // namespace live::io::st
