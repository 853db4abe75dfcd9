#include "io/fibers/turn_order.hpp"

#include <gtest/gtest.h>

namespace live::io {
namespace {

using Rank = TurnOrder::Rank;

TEST(TurnOrder, IsByRankAndThenByArrival) {
    TurnOrder order;
    TurnOrder::Waiter a(Rank::third);
    TurnOrder::Waiter b(Rank::second);
    TurnOrder::Waiter c(Rank::first);
    TurnOrder::Waiter d(Rank::second);
    for (auto* waiter : {&a, &b, &c, &d})
        order.add(*waiter);
    EXPECT_EQ(order.size(), 4U);
    for (auto* waiter : {&c, &b, &d, &a})
        EXPECT_EQ(order.take_next(), waiter);
    EXPECT_EQ(order.take_next(), nullptr);
    EXPECT_EQ(order.size(), 0U);
}

TEST(TurnOrder, WaitersMayLeave) {
    TurnOrder order;
    TurnOrder::Waiter a(Rank::second);
    TurnOrder::Waiter b(Rank::second);
    TurnOrder::Waiter c(Rank::second);
    for (auto* waiter : {&a, &b, &c})
        order.add(*waiter);
    order.remove(b);
    order.remove(c);
    EXPECT_EQ(order.take_next(), &a);
    order.add(b);
    order.remove(b);
    EXPECT_EQ(order.take_next(), nullptr);
}

TEST(TurnOrder, TheThirdRankIsServedWhileTheSecondNeverEnds) {
    TurnOrder order;
    TurnOrder::Waiter last(Rank::third);
    order.add(last);
    std::uint32_t before = 0;
    for (;;) {
        TurnOrder::Waiter other(Rank::second);
        order.add(other);
        if (order.take_next() == &last) {
            order.remove(other);
            break;
        }
        ++before;
        ASSERT_LT(before, 100U);
    }
    EXPECT_EQ(before, TurnOrder::kPassedMax);
}

}  // namespace
}  // namespace live::io
