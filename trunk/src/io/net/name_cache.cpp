#include "io/net/name_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace live::io {

std::optional<NameCache::Known> NameCache::find(std::string_view name, TimePoint now) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end())
        return std::nullopt;
    names_.splice(names_.begin(), names_, found->second);
    Name& known = *found->second;
    if (now >= known.good_until)
        known.ips.clear();
    return Known{known.ips, now < known.fresh_until};
}

void NameCache::put(std::string_view name, std::vector<std::string> ips, TimePoint now) {
    auto found = by_name_.find(name);
    if (found == by_name_.end()) {
        if (names_.size() >= kNamesMax)
            forget_one();
        names_.push_front({std::string(name), {}, now, now});
        found = by_name_.emplace(names_.front().name, names_.begin()).first;
    }
    Name& known = *found->second;
    known.fresh_until = now + (ips.empty() ? kBadFor : kGoodFor);
    if (ips.empty())
        return;
    known.ips = std::move(ips);
    known.good_until = now + kStaleFor;
}

void NameCache::forget_one() {
    const auto bad = std::find_if(names_.rbegin(), names_.rend(), [](const Name& name) { return name.ips.empty(); });
    const auto gone = bad == names_.rend() ? std::prev(names_.end()) : std::prev(bad.base());
    by_name_.erase(gone->name);
    names_.erase(gone);
}

}  // namespace live::io
