#include "io/fibers/turn_order.hpp"

namespace live::io {

void TurnOrder::add(Waiter& waiter) {
    List& its = list(waiter.rank);
    waiter.previous = its.tail;
    waiter.next = nullptr;
    (its.tail == nullptr ? its.head : its.tail->next) = &waiter;
    its.tail = &waiter;
    ++size_;
}

void TurnOrder::remove(Waiter& waiter) {
    List& its = list(waiter.rank);
    (waiter.previous == nullptr ? its.head : waiter.previous->next) = waiter.next;
    (waiter.next == nullptr ? its.tail : waiter.next->previous) = waiter.previous;
    --size_;
}

TurnOrder::List& TurnOrder::next_list() {
    if (list(Rank::first).head != nullptr)
        return list(Rank::first);
    List& second = list(Rank::second);
    List& third = list(Rank::third);
    if (third.head == nullptr)
        return second;
    if (second.head != nullptr && passed_ < kPassedMax) {
        ++passed_;
        return second;
    }
    passed_ = 0;
    return third;
}

TurnOrder::Waiter* TurnOrder::take_next() {
    Waiter* const next = next_list().head;
    if (next != nullptr)
        remove(*next);
    return next;
}

}  // namespace live::io
