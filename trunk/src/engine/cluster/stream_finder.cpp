#include "engine/cluster/stream_finder.hpp"

#include <algorithm>

namespace live::engine::cluster {

void StreamFinder::find(const std::string& stream, std::uint64_t ticket, TimePoint now) {
    const auto known = cache_.find(stream);
    if (known != cache_.end() && !known->second.is_stale) {
        const bool is_there = std::holds_alternative<There>(known->second.where);
        if (now - known->second.at < (is_there ? Duration(kCacheAge) : Duration(kNowhereAge)))
            return notices_.push(FindDecided{ticket, known->second.where});
    }
    const bool is_requested = waiting_.contains(stream);
    const bool may_request = is_requested || (queue_.may_send() && !late_.contains(stream));
    if (!may_request || waiting_count_ >= kWaitersMax || !is_good_stream(stream))
        return notices_.push(FindDecided{ticket, old_location(stream, now)});
    waiting_[stream].push_back(ticket);
    ++waiting_count_;
    if (!is_requested)
        queue_.send(StreamLookup{stream}, now);
}

void StreamFinder::forget(const std::string& stream) {
    if (const auto known = cache_.find(stream); known != cache_.end())
        known->second.is_stale = true;
}

void StreamFinder::forget_all() {
    for (auto& [stream, known] : cache_)
        known.is_stale = true;
}

void StreamFinder::handle_location(const std::string& stream, const StreamLocation& where, TimePoint now) {
    Cached& known = cached(stream);
    known.where = where;
    known.at = now;
    known.is_stale = false;
    answer(stream, where);
}

void StreamFinder::handle_failure(const std::string& stream, TimePoint now) { answer(stream, old_location(stream, now)); }

std::uint64_t StreamFinder::next_epoch(const std::string& stream) const {
    const auto known = cache_.find(stream);
    return std::min((known == cache_.end() ? 0 : known->second.epoch) + 1, kNumberMax);
}

StreamFinder::Cached& StreamFinder::cached(const std::string& stream) {
    if (cache_.size() >= kCacheMax && !cache_.contains(stream))
        cache_.clear();
    return cache_.try_emplace(stream, Cached{Nowhere{}, 0, {}, true}).first->second;
}

void StreamFinder::answer(const std::string& stream, const StreamLocation& where) {
    const auto waiting = waiting_.extract(stream);
    if (waiting.empty())
        return;
    waiting_count_ -= waiting.mapped().size();
    for (const std::uint64_t ticket : waiting.mapped())
        notices_.push(FindDecided{ticket, where});
}

// Returns the cached location of a stream while the registry does not answer.
StreamLocation StreamFinder::old_location(const std::string& stream, TimePoint now) const {
    const auto known = cache_.find(stream);
    if (known != cache_.end() && std::holds_alternative<There>(known->second.where) && now - known->second.at < kOldAge)
        return known->second.where;
    return Unknown{};
}

}  // namespace live::engine::cluster
