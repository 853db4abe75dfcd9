#include "engine/relay/origin_health.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/bytes/hash.hpp"

namespace live::engine::relay {

namespace {

// The final mix makes the order of names that differ in one character independent. The result is the same on all machines.
std::uint64_t weight_of(std::string_view origin, std::string_view stream) {
    std::uint64_t hash = fnv1a(as_bytes(stream), fnv1a(as_bytes("\n"), fnv1a(as_bytes(origin))));
    hash ^= hash >> 33U;
    hash *= 0xFF51AFD7ED558CCDU;
    return hash ^ (hash >> 33U);
}

}  // namespace

std::optional<OriginHealth::Choice> OriginHealth::choose(std::span<const std::string> candidates, std::string_view stream,
                                                         const LeftOrigins& left, TimePoint now) const {
    // Lower rank is better: a shorter wait, left longer ago, a greater weight.
    const auto rank = [&](std::size_t index) {
        const Record* record = find(candidates[index]);
        const bool is_down = record != nullptr && !record->is_up && record->retry_at > now;
        const Duration wait = is_down ? record->retry_at - now : Duration::zero();
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

OriginHealth::Entry& OriginHealth::entry(const std::string& origin, TimePoint now) {
    if (!entries_.contains(origin) && entries_.size() >= kOriginsMax)
        entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& one) { return one.second.used; }));
    auto [found, is_new] = entries_.try_emplace(origin);
    if (is_new)
        found->second.record.since = now;
    found->second.used = now;
    return found->second;
}

void OriginHealth::report_up(const std::string& origin, Duration rtt, TimePoint now) {
    Entry& known = entry(origin, now);
    ++known.record.tries;
    if (!std::exchange(known.record.is_up, true))
        known.record.since = now;
    known.record.rtt = rtt;
    known.backoff.reset();
}

void OriginHealth::report_down(const std::string& origin, std::string error, TimePoint now, std::uint32_t random) {
    Entry& known = entry(origin, now);
    ++known.record.tries;
    ++known.record.failures;
    known.record.last_error = std::move(error);
    const bool was_up = std::exchange(known.record.is_up, false);
    if (was_up)
        known.record.since = now;
    if (was_up || now >= known.record.retry_at)
        known.record.retry_at = now + known.backoff.next(random);
}

void OriginHealth::note_media(const std::string& origin, TimePoint now) {
    if (const auto found = entries_.find(origin); found != entries_.end())
        found->second.media_at = now;
}

bool OriginHealth::has_media_after(const std::string& origin, TimePoint time) const {
    const auto found = entries_.find(origin);
    return found != entries_.end() && found->second.media_at > time;
}

const OriginHealth::Record* OriginHealth::find(const std::string& origin) const {
    const auto found = entries_.find(origin);
    return found == entries_.end() ? nullptr : &found->second.record;
}

}  // namespace live::engine::relay
