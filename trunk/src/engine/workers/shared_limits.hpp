// SharedLimits: the shared counts of all resources that are limited over all workers together, in shared memory: no messages, no
// waiting, and a limit holds over the whole. Sums are exact. Each address maps to two counters by its keyed hash, of which the
// lesser one counts: it is never too small, and too large only where others share both. A worker writes only its own counts; the
// master clears those of a dead one. The memory may contain anything.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"
#include "engine/workers/message.hpp"

namespace live::engine::workers {

class SharedLimits {
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
    SharedLimits(MutBytes memory, Worker workers, Worker self, const Key& key);

    // Sets this worker's part.
    void set(Sum sum, std::uint64_t value);
    // Returns the sum of the other workers.
    std::uint64_t others(Sum sum) const;

    // Counts one more for an address, of which this worker has `own` already. False, and nothing is counted, if the total would
    // exceed `bound`. Concurrent calls of several workers never use the same room twice.
    bool enter(std::size_t use, Bytes address, std::size_t own, std::size_t bound);
    void leave(std::size_t use, Bytes address);
    // A request of an address, which counts if it is granted.
    bool try_charge(std::size_t use, Bytes address, const Rate& rate, TimePoint now);

    // Called by the master after the worker has died.
    static void forget(MutBytes memory, Worker workers, Worker dead);

private:
    static constexpr std::size_t kCells = 1U << 14;
    static constexpr std::size_t kRows = 2;

    using Cells = std::array<std::size_t, kRows>;

    Cells cells_of(Bytes address) const;
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
