#include "io/fibers/turns.hpp"

#include "io/fibers/loop.hpp"

namespace live::io {

namespace {

void end_turn(TurnState& state) {
    TurnOrder::Waiter* const next = state.order.take_next();
    state.is_taken = next != nullptr;  // for that one
    if (next != nullptr)
        next->granted.raise();
}

}  // namespace

Turns::Turn::~Turn() {
    if (state_ == nullptr)
        return;
    state_->spent += std::chrono::steady_clock::now() - began_;
    end_turn(*state_);
}

Result<Turns::Turn> Turns::take(Rank rank, Deadline deadline) {
    if (state_.is_taken) {
        TurnOrder::Waiter waiter(rank);
        state_.order.add(waiter);
        const Urgent urgent;
        if (const auto granted = wait(waiter.granted, deadline); !granted.ok()) {
            // wait() may yield before it looks at the signal, and the turn be granted meanwhile.
            if (waiter.granted.consume())
                end_turn(state_);
            else
                state_.order.remove(waiter);
            return Error(granted.error());
        }
    }
    state_.is_taken = true;
    if (state_.spent >= kBudget) {
        state_.spent = {};
        if (const auto given_way = yield(deadline); !given_way.ok()) {
            end_turn(state_);
            return Error(given_way.error());
        }
    }
    return Turn(state_);
}

}  // namespace live::io
