#include "engine/workers/shared_limits.hpp"

#include <algorithm>

#include "base/bytes/shared_number.hpp"
#include "base/check.hpp"
#include "engine/crypto/siphash.hpp"

namespace live::engine::workers {

namespace {

// A worker's sums have a cache line of their own.
constexpr std::size_t kSumsBytes = SharedLimits::kAlignment;
// A larger value is invalid and does not count.
constexpr std::uint64_t kMost = std::uint64_t{1} << 48;

std::uint64_t sane(std::uint64_t value) { return value > kMost ? 0 : value; }

}  // namespace

std::size_t SharedLimits::cell_at(Worker workers, std::size_t use, std::size_t row, std::size_t cell, Worker worker) {
    const std::size_t index = ((use * kRows + row) * kCells + cell) * workers + worker - 1U;
    return workers * kSumsBytes + index * sizeof(std::uint32_t);
}

std::size_t SharedLimits::bytes_for(Worker workers) {
    return workers * kSumsBytes + kUses * kRows * kCells * (workers * sizeof(std::uint32_t) + sizeof(std::uint64_t));
}

SharedLimits::SharedLimits(MutBytes memory, Worker workers, Worker self, const Key& key)
    : memory_(memory), workers_(workers), self_(self), key_(key) {
    CHECK(memory.size() >= bytes_for(workers) && self >= 1 && self <= workers);
}

std::atomic_ref<std::uint64_t> SharedLimits::sum_of(Sum sum, Worker worker) const {
    return shared_number<std::uint64_t>(memory_,
                                        (worker - 1U) * kSumsBytes + static_cast<std::size_t>(sum) * sizeof(std::uint64_t));
}

void SharedLimits::set(Sum sum, std::uint64_t value) { sum_of(sum, self_).store(value); }

std::uint64_t SharedLimits::others(Sum sum) const {
    std::uint64_t all = 0;
    for (Worker worker = 1; worker <= workers_; ++worker)
        if (worker != self_)
            all += sane(sum_of(sum, worker).load());
    return all;
}

SharedLimits::Cells SharedLimits::cells_of(Bytes address) const {
    const std::uint64_t hash = crypto::SipHash(key_).of(address);
    return {hash % kCells, hash / kCells % kCells};
}

std::atomic_ref<std::uint32_t> SharedLimits::count(std::size_t use, std::size_t row, std::size_t cell, Worker worker) const {
    return shared_number<std::uint32_t>(memory_, cell_at(workers_, use, row, cell, worker));
}

std::atomic_ref<std::uint64_t> SharedLimits::pace(std::size_t use, std::size_t row, std::size_t cell) const {
    const std::size_t paces = cell_at(workers_, kUses, 0, 0, 1);
    return shared_number<std::uint64_t>(memory_, paces + ((use * kRows + row) * kCells + cell) * sizeof(std::uint64_t));
}

bool SharedLimits::enter(std::size_t use, Bytes address, std::size_t own, std::size_t bound) {
    const Cells places = cells_of(address);
    for (std::size_t row = 0; row < kRows; ++row)
        ++count(use, row, places[row], self_);
    std::uint64_t others = kMost;
    for (std::size_t row = 0; row < kRows; ++row) {
        std::uint64_t sum = 0;
        for (Worker worker = 1; worker <= workers_; ++worker)
            if (worker != self_)
                sum += count(use, row, places[row], worker).load();
        others = std::min(others, sum);
    }
    if (own + 1 + others <= bound)
        return true;
    leave(use, address);
    return false;
}

void SharedLimits::leave(std::size_t use, Bytes address) {
    const Cells places = cells_of(address);
    for (std::size_t row = 0; row < kRows; ++row)
        --count(use, row, places[row], self_);
}

// A cell holds the time at which a full burst is allowed again. Both are paid first, and given back when it was too early. They
// are looked at once both are paid: of requests that are granted, the last to have paid sees all of the others in each cell.
bool SharedLimits::try_charge(std::size_t use, Bytes address, const Rate& rate, TimePoint now) {
    const Cells places = cells_of(address);
    const auto at = static_cast<std::uint64_t>(now.time_since_epoch().count());
    const auto price = static_cast<std::uint64_t>(rate.price.count());
    const std::uint64_t latest = at + static_cast<std::uint64_t>(rate.burst.count());
    // Later than any that was granted or is being tried: no time of this tally.
    const std::uint64_t absurd = latest + price * (kWorkersMax + 1);
    for (std::size_t row = 0; row < kRows; ++row) {
        const auto cell = pace(use, row, places[row]);
        std::uint64_t before = cell.load();
        while (!cell.compare_exchange_weak(before, (before > absurd ? at : std::max(before, at)) + price)) {
        }
    }
    std::uint64_t rested = absurd;
    for (std::size_t row = 0; row < kRows; ++row)
        rested = std::min(rested, pace(use, row, places[row]).load());
    if (rested <= latest)
        return true;
    for (std::size_t row = 0; row < kRows; ++row)
        pace(use, row, places[row]) -= price;
    return false;
}

void SharedLimits::forget(MutBytes memory, Worker workers, Worker dead) {
    const SharedLimits tally(memory, workers, dead, {});
    for (std::size_t sum = 0; sum < kSumsBytes / sizeof(std::uint64_t); ++sum)
        tally.sum_of(static_cast<Sum>(sum), dead).store(0);
    for (std::size_t use = 0; use < kUses; ++use)
        for (std::size_t row = 0; row < kRows; ++row)
            for (std::size_t cell = 0; cell < kCells; ++cell)
                tally.count(use, row, cell, dead).store(0);
}

}  // namespace live::engine::workers
