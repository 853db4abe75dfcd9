#include "bench/measure/position_lag.hpp"

#include <algorithm>

namespace live::bench {

void PositionLag::note(TimePoint now, std::uint64_t leader) {
    if (history_.empty() || history_.back().position != leader)
        history_.push_back({now, leader});
    while (history_.size() > 1 && history_.front().when < now - kHistory)
        history_.pop_front();
}

Duration PositionLag::behind(TimePoint now, std::uint64_t position) const {
    const auto passed = std::ranges::upper_bound(history_, position, {}, &Entry::position);
    return passed == history_.end() ? Duration(0) : std::min<Duration>(now - passed->when, kHistory);
}

}  // namespace live::bench
