#include "session/limits/memory_budget.hpp"

#include <array>
#include <map>
#include <utility>

#include "base/log/log_format.hpp"

namespace live::session {

std::optional<std::size_t> greediest(std::span<const MemoryHolding> holdings) {
    // A tree: strangers choose the addresses.
    std::map<std::array<std::uint8_t, 16>, std::size_t> sums;
    for (const MemoryHolding& holding : holdings)
        if (holding.group)
            sums[holding.group->bytes] += holding.bytes;
    std::optional<std::size_t> found;
    std::size_t most = 0;  // total of its address
    for (std::size_t i = 0; i < holdings.size(); ++i) {
        const MemoryHolding& holding = holdings[i];
        const std::size_t sum = holding.group ? sums[holding.group->bytes] : holding.bytes;
        if (holding.bytes == 0 || sum < most || (sum == most && found && holding.bytes <= holdings[*found].bytes))
            continue;
        most = sum;
        found = i;
    }
    return found;
}

Error MemoryBudget::refusal() const {
    return {Errc::limit,
            fmt::format("seven tenths of the memory for clients are taken (limits.memory_budget, {} MiB)", whole_ >> 20)};
}

void MemoryBudget::add(Use& use) {
    use.index_ = static_cast<std::uint32_t>(uses_.size());
    uses_.push_back(&use);
}

void MemoryBudget::remove(Use& use) {
    uses_[use.index_] = uses_.back();
    uses_[use.index_]->index_ = use.index_;
    uses_.pop_back();
}

void MemoryBudget::change(Use& use, std::size_t bytes) {
    const std::size_t before = std::exchange(use.bytes_, bytes);
    if (use.is_lost_) {
        lost_ = lost_ - before + bytes;
        return;
    }
    std::size_t& sum = bytes_[index_of(use.kind_)];
    sum = sum - before + bytes;
    if (before == 0)
        add(use);
    else if (bytes == 0)
        remove(use);
    if (bytes > before && use.kind_ == Kind::unfinished)
        fit_unfinished();
}

void MemoryBudget::take_away(Use& use) {
    if (use.is_lost_ || use.bytes_ == 0)
        return;
    bytes_[index_of(use.kind_)] -= use.bytes_;
    remove(use);
    use.is_lost_ = true;
    lost_ += use.bytes_;
    ++losses_;
    use.holder_.lose_memory(
        fmt::format("the memory for clients is used up (limits.memory_budget, {} MiB), and this one held {} KiB", whole_ >> 20,
                    use.bytes_ >> 10));
}

void MemoryBudget::fit_unfinished() {
    for (;;) {
        const bool is_over_share = bytes(Kind::unfinished) > max_ / kUnfinishedPart;
        // Memory of unfinished messages is released at once and does not count; memory of streams takes longer.
        if (!is_over_share && used() + leaving_ <= limit())
            return;
        const std::size_t spared = is_over_share ? 0 : max_ / kSparedPart;
        std::vector<MemoryHolding> holdings;
        std::vector<Use*> holders;
        for (Use* use : uses_)
            if (use->kind_ == Kind::unfinished && use->bytes_ > spared) {
                holdings.push_back(holding(*use));
                holders.push_back(use);
            }
        const auto loser = greediest(holdings);
        if (!loser)
            return;
        take_away(*holders[*loser]);
    }
}

}  // namespace live::session
