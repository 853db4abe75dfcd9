#include "session/srt/port/openings.hpp"

#include <utility>

namespace live::session::srt {

void Openings::add(const PeerKey& client, HalfOpen::Place place, TimePoint now) {
    if (waiting_.empty())
        next_look_ = now + kLookEvery;
    waiting_.emplace(client, Waiting{now, std::move(place)});
}

bool Openings::note_repeated(const PeerKey& client, TimePoint now) {
    const auto waiting = waiting_.find(client);
    if (waiting == waiting_.end())
        return false;
    waiting->second.asked_at = now;
    return true;
}

void Openings::begin(const PeerKey& client, std::chrono::milliseconds patience, std::uint64_t fiber) {
    const auto waiting = waiting_.find(client);
    if (waiting == waiting_.end())
        return;
    waiting->second.patience = patience;
    waiting->second.fiber = fiber;
}

bool Openings::has_given_up(const PeerKey& client, TimePoint now) const {
    const auto waiting = waiting_.find(client);
    return waiting != waiting_.end() && waiting->second.has_given_up(now);
}

Result<void> Openings::enter_vhost(const PeerKey& client, const std::string& vhost, TimePoint now) {
    const auto waiting = waiting_.find(client);
    return waiting == waiting_.end() ? Result<void>() : waiting->second.place.enter_vhost(vhost, now);
}

void Openings::add_refusal(const PeerKey& client, engine::srt::RejectReason reason, TimePoint now) {
    if (refusals_.size() >= kRefusalsMax)
        drop_old_refusals(now);
    if (refusals_.size() < kRefusalsMax)
        refusals_[client] = {reason, now};
}

std::optional<engine::srt::RejectReason> Openings::refusal_of(const PeerKey& client) const {
    const auto refusal = refusals_.find(client);
    return refusal == refusals_.end() ? std::nullopt : std::optional(refusal->second.reason);
}

void Openings::drop_old_refusals(TimePoint now) {
    std::erase_if(refusals_, [now](const auto& refusal) { return now - refusal.second.at > kRefusalsKept; });
}

}  // namespace live::session::srt
