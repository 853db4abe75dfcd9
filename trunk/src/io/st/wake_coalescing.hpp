// When events of descriptors that can wait are looked at: at once while they come alone, in turns while there are many (ADR
// 0019). A loop with little to do wakes for each event and finds the processor's caches cold each time; a turn of several does
// once. The same as adaptive interrupt coalescing of network cards, one floor up. Dry: it is told the time and what was seen.
#pragma once

#include <cstdint>

namespace live::io::st {

class WakeCoalescing {
public:
    // An event waits for its turn at most so long.
    static constexpr std::uint64_t kTurnMicros = 5'000;
    // Descriptors of one turn that make the next ones worth while.
    static constexpr std::uint32_t kBatchedMin = 2;
    // Turns in a row after which a descriptor is in haste: its peer asks again as soon as it has an answer, and turns would only
    // slow it down.
    static constexpr unsigned kHaste = 4;

    // What is remembered of each descriptor.
    struct Mark {
        std::uint8_t turn = 0;      // the last one it had an event in
        std::uint8_t in_a_row = 0;  // turns before that one, without a gap
    };

    // The events of all such descriptors are about to be looked at.
    void begin(std::uint64_t now_us);
    // One of them had an event.
    void note(Mark& mark);
    // Asked when all were noted: the next ones shall wait until due().
    bool holds() const { return batched_ >= kBatchedMin && batched_ * 2 >= all_; }
    // When the turn ends that begin() has begun, or gone on with.
    std::uint64_t due() const { return due_; }

private:
    std::uint64_t due_ = 0;
    std::uint8_t turn_ = 0;  // its number; one that comes again after 256 does no harm
    // In this turn.
    std::uint32_t all_ = 0;
    std::uint32_t batched_ = 0;
};

}  // namespace live::io::st
