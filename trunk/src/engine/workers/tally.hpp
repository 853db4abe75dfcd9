// Tally: what each worker has of that which is limited for all of them together, in memory that they share: nobody is asked,
// nothing waits, and a limit holds over the whole. Sums are exact. What an address has is counted in two cells that its keyed
// hash names, of which the lesser one counts: never less than it has, and more only where both cells are shared with others. A
// worker writes only its own counts; those of a dead one are forgotten by the master. Anything may stand in the memory.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "engine/workers/message.hpp"

namespace live::engine::workers {

class Tally {
public:
    enum class Sum : std::uint8_t { places, half_open, memory };
    // Kinds of things that are bounded per address.
    static constexpr std::size_t kUses = 3;
    static constexpr std::size_t kKeyBytes = 16;
    static constexpr std::size_t kAlignment = 64;

    using Key = std::array<std::uint8_t, kKeyBytes>;
    struct Rate {
        Duration price{};  // of one request
        Duration burst{};
    };

    static std::size_t bytes_for(Worker workers);
    // `memory` is aligned, of bytes_for(workers), zero at first, and outlives this. The key is the same for all workers.
    Tally(MutBytes memory, Worker workers, Worker self, const Key& key);

    // Its own part.
    void set(Sum sum, std::uint64_t value);
    // What the others have.
    std::uint64_t others(Sum sum) const;

    // One more for an address, of which this worker has `own` already. False, and nothing is counted, when all would have more
    // than `bound`. Of workers that ask at the same moment, none sees room that another has taken.
    bool enter(std::size_t use, Bytes address, std::size_t own, std::size_t bound);
    void leave(std::size_t use, Bytes address);
    // A request of an address, which counts if it is granted.
    bool pay(std::size_t use, Bytes address, const Rate& rate, TimePoint now);

    // For the master: the worker has died.
    static void forget(MutBytes memory, Worker workers, Worker dead);

private:
    static constexpr std::size_t kCells = 1U << 14;
    static constexpr std::size_t kRows = 2;

    using Places = std::array<std::size_t, kRows>;

    Places places_of(Bytes address) const;
    static std::size_t cell_at(Worker workers, std::size_t use, std::size_t row, std::size_t cell, Worker worker);
    // A worker's count in a cell, and the time that all have there.
    std::atomic_ref<std::uint32_t> count(std::size_t use, std::size_t row, std::size_t cell, Worker worker) const;
    std::atomic_ref<std::uint64_t> pace(std::size_t use, std::size_t row, std::size_t cell) const;
    std::atomic_ref<std::uint64_t> sum_of(Sum sum, Worker worker) const;

    const MutBytes memory_;
    const Worker workers_;
    const Worker self_;
    const Key key_;
};

}  // namespace live::engine::workers
