#include "session/limits/per_address_limits.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/net/transport_address.hpp"

namespace live::session {

IpAddress PerAddressLimits::group_of(const IpAddress& address) {
    IpAddress group = address;
    constexpr std::size_t kNetworkBytes = 8;
    if (!TransportAddress{address, 0}.is_ipv4())
        std::fill(group.bytes.begin() + kNetworkBytes, group.bytes.end(), std::uint8_t{0});
    return group;
}

bool PerAddressLimits::Entry::has_nothing() const {
    return std::ranges::all_of(in_use, [](std::uint32_t count) { return count == 0; });
}

bool PerAddressLimits::Entry::is_rested(TimePoint now) const {
    return std::ranges::all_of(rested_at, [now](TimePoint when) { return when <= now; });
}

PerAddressLimits::Answer PerAddressLimits::enter(const IpAddress& group, Use use, Pace pace, TimePoint now) {
    now_ = now;
    const Bounds& bounds = bounds_[index_of(use)];
    const auto known = entries_.find(group.bytes);
    const Entry before = known == entries_.end() ? Entry{} : known->second;
    if (before.in_use[index_of(use)] >= bounds.at_once)
        return Answer::too_many;
    TimePoint rested_at = before.rested_at[index_of(use)];
    if (pace == Pace::counts && bounds.per_second > 0) {
        const Duration price = Duration(std::chrono::seconds(1)) / bounds.per_second;
        rested_at = std::max(rested_at, now) + price;
        if (rested_at - now > kBurst)
            return Answer::too_fast;
    }
    Entry& entry = known == entries_.end() ? entries_[group.bytes] : known->second;
    ++entry.in_use[index_of(use)];
    entry.rested_at[index_of(use)] = rested_at;
    if (std::exchange(entry.is_resting, false))
        resting_.erase(entry.resting);
    return Answer::taken;
}

void PerAddressLimits::leave(const IpAddress& group, Use use) {
    const auto at = entries_.find(group.bytes);
    CHECK(at != entries_.end() && at->second.in_use[index_of(use)] > 0);
    --at->second.in_use[index_of(use)];
    if (at->second.has_nothing())
        rest(at);
}

// Checks two resting entries for each one that begins to rest, so that their number follows the load.
void PerAddressLimits::rest(Entries::iterator at) {
    at->second.is_resting = true;
    at->second.resting = resting_.insert(resting_.end(), IpAddress{at->first});
    constexpr int kLooks = 2;
    for (int i = 0; i < kLooks && !resting_.empty(); ++i) {
        const IpAddress oldest = resting_.front();
        if (resting_.size() > kRestingMax || entries_.find(oldest.bytes)->second.is_rested(now_))
            forget(oldest);
    }
}

void PerAddressLimits::forget(const IpAddress& group) {
    const auto at = entries_.find(group.bytes);
    resting_.erase(at->second.resting);
    entries_.erase(at);
}

std::size_t PerAddressLimits::in_use(const IpAddress& group, Use use) const {
    const auto at = entries_.find(group.bytes);
    return at == entries_.end() ? 0 : at->second.in_use[index_of(use)];
}

std::size_t PerAddressLimits::bytes() const {
    constexpr std::size_t kNodeLinks = 4 * sizeof(void*);
    return entries_.size() * (sizeof(Entries::value_type) + kNodeLinks) +
           resting_.size() * (sizeof(IpAddress) + 2 * sizeof(void*));
}

}  // namespace live::session
