// Decides when events of descriptors that tolerate delay are handled: at once while they come singly, in batched turns while
// there are many (ADR 0019). A lightly loaded loop wakes for each event and finds cold caches each time; a batch of several pays
// for that once. This is the adaptive interrupt coalescing of network cards, one level up. Dry: it is given the time and the
// observed events.
#pragma once

#include <cstdint>

namespace live::io::st {

class WakeCoalescing {
public:
    // The longest an event waits for its turn.
    static constexpr std::uint64_t kTurnMicros = 5'000;
    // Number of descriptors in one turn that makes batching the next ones worthwhile.
    static constexpr std::uint32_t kBatchedMin = 2;
    // Consecutive turns after which a descriptor counts as urgent: its peer sends again as soon as it has an answer, and batching
    // would only slow it down.
    static constexpr unsigned kHaste = 4;

    // State per descriptor.
    struct Mark {
        std::uint8_t turn = 0;      // the last turn with an event
        std::uint8_t in_a_row = 0;  // preceding turns without a gap
    };

    // Events of all such descriptors are about to be handled.
    void begin(std::uint64_t now_us);
    // One of them had an event.
    void note(Mark& mark);
    // To be called after all events were noted: whether the next ones wait until due().
    bool holds() const { return batched_ >= kBatchedMin && batched_ * 2 >= all_; }
    // End of the turn that begin() has started or continued.
    std::uint64_t due() const { return due_; }

private:
    std::uint64_t due_ = 0;
    std::uint8_t turn_ = 0;  // wraps; a repeat after 256 turns is harmless
    // In this turn.
    std::uint32_t all_ = 0;
    std::uint32_t batched_ = 0;
};

}  // namespace live::io::st
