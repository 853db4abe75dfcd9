#include "io/st/wake_coalescing.hpp"

namespace live::io::st {

void WakeCoalescing::begin(std::uint64_t now_us) {
    if (now_us < due_)
        return;
    // After a silence no turn counts as consecutive.
    turn_ = static_cast<std::uint8_t>(turn_ + (now_us < due_ + kTurnMicros ? 1 : 2));
    due_ = now_us + kTurnMicros;
    all_ = 0;
    batched_ = 0;
}

void WakeCoalescing::note(Mark& mark) {
    if (mark.turn == turn_)
        return;
    if (mark.turn != static_cast<std::uint8_t>(turn_ - 1))
        mark.in_a_row = 0;
    else if (mark.in_a_row < kHaste)
        ++mark.in_a_row;
    mark.turn = turn_;
    ++all_;
    batched_ += mark.in_a_row < kHaste ? 1 : 0;
}

}  // namespace live::io::st
