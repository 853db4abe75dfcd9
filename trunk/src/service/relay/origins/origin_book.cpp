#include "service/relay/origins/origin_book.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/hash.hpp"

namespace live::service::relay {

namespace {

// With a final mix, so that names differing in a single character are ordered independently. Identical on all machines.
std::uint64_t weight_of(std::string_view origin, std::string_view stream) {
    std::uint64_t hash = fnv1a(as_bytes(stream), fnv1a(as_bytes("\n"), fnv1a(as_bytes(origin))));
    hash ^= hash >> 33U;
    hash *= 0xFF51AFD7ED558CCDU;
    return hash ^ (hash >> 33U);
}

}  // namespace

std::optional<OriginBook::Choice> OriginBook::choose(std::span<const std::string> candidates, std::string_view stream,
                                                     const LeftOrigins& left, TimePoint now) const {
    // Lower rank is better: a shorter wait, left longer ago, a greater weight.
    const auto rank = [&](std::size_t index) {
        const Health* health = find(candidates[index]);
        const bool is_down = health != nullptr && !health->is_up && health->retry_at > now;
        const Duration wait = is_down ? health->retry_at - now : Duration::zero();
        return std::tuple(wait, left.rank_of(candidates[index]), ~weight_of(candidates[index], stream));
    };
    std::optional<std::size_t> best;
    for (std::size_t index = 0; index < candidates.size(); ++index)
        if (!best || rank(index) < rank(*best))
            best = index;
    if (!best)
        return std::nullopt;
    return Choice{*best, std::get<0>(rank(*best))};
}

OriginBook::Entry& OriginBook::entry(const std::string& origin, TimePoint now) {
    if (!entries_.contains(origin) && entries_.size() >= kOriginsMax)
        entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second.used; }));
    auto [found, is_new] = entries_.try_emplace(origin);
    if (is_new)
        found->second.health.since = now;
    found->second.used = now;
    return found->second;
}

void OriginBook::report_up(const std::string& origin, Duration rtt, TimePoint now) {
    Entry& known = entry(origin, now);
    ++known.health.tries;
    if (!std::exchange(known.health.is_up, true))
        known.health.since = now;
    known.health.rtt = rtt;
    known.backoff.reset();
}

void OriginBook::report_down(const std::string& origin, std::string error, TimePoint now, std::uint32_t random) {
    Entry& known = entry(origin, now);
    ++known.health.tries;
    ++known.health.failures;
    known.health.last_error = std::move(error);
    const bool was_up = std::exchange(known.health.is_up, false);
    if (was_up)
        known.health.since = now;
    if (was_up || now >= known.health.retry_at)
        known.health.retry_at = now + known.backoff.next(random);
}

void OriginBook::note_heard(const std::string& origin, TimePoint now) {
    if (const auto found = entries_.find(origin); found != entries_.end())
        found->second.heard = now;
}

bool OriginBook::is_heard_after(const std::string& origin, TimePoint time) const {
    const auto found = entries_.find(origin);
    return found != entries_.end() && found->second.heard > time;
}

const OriginBook::Health* OriginBook::find(const std::string& origin) const {
    const auto found = entries_.find(origin);
    return found == entries_.end() ? nullptr : &found->second.health;
}

}  // namespace live::service::relay
