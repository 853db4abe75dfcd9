#include "engine/cluster/owned_streams.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::cluster {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPauseWhenFull{100};

}  // namespace

void OwnedStreams::publish(const std::string& stream, std::uint64_t ticket, bool replaces, std::int64_t since, TimePoint now,
                           const std::optional<NodeRun>& dead) {
    // The node's own rule decides between two publishers on one node.
    if (owned_.contains(stream))
        return parts_.notices.push(PublishDecided{ticket, Verdict::granted});
    if (owned_.size() >= kStreamsMax || !is_good_stream(stream))
        return parts_.notices.push(PublishDecided{ticket, Verdict::too_many});
    Owned& owned = add(stream, since);
    owned.replaces = replaces;
    owned.dead = dead;
    owned.ticket = ticket;
    owned.confirm = parts_.queue.start_timer(now + kConfirmWithin, ClusterTimer::Kind::confirm, stream);
    if (parts_.queue.may_send())
        send_claim(stream, owned, now);
    else
        publish_locally(stream, owned, now);
}

// Since it was granted, the stream may have been lost, or refused to another publisher on this node: then its epoch decides.
void OwnedStreams::confirm(const std::string& stream, std::int64_t since, TimePoint now) {
    auto owned = owned_.find(stream);
    if (owned == owned_.end() && owned_.size() < kStreamsMax && is_good_stream(stream)) {
        publish_locally(stream, add(stream, since), now);
        owned = owned_.find(stream);
    }
    if (owned != owned_.end())
        owned->second.is_confirmed = true;
}

// Epoch 0 withdraws any ownership of this run: a claim may be in flight.
void OwnedStreams::unpublish(const std::string& stream, TimePoint now) {
    const auto found = owned_.find(stream);
    if (found == owned_.end())
        return;
    Owned& owned = found->second;
    if (owned.command != 0 || owned.step != Step::held)
        owned.own.epoch = 0;
    if (withdrawals_.size() < kStreamsMax)
        withdrawals_.insert_or_assign(stream, owned.own);
    if (parts_.queue.may_send())
        parts_.queue.send(Withdraw{stream, owned.own}, now);
    decide(owned, Verdict::refused);
    parts_.finder.forget(stream);
    owned_.erase(found);
}

OwnedStreams::Owned& OwnedStreams::add(const std::string& stream, std::int64_t since) {
    withdrawals_.erase(stream);
    Owned& owned = owned_[stream];
    const NodeRecord& self = parts_.identity.self();
    owned.own = {self.id, self.run, 0, std::clamp<std::int64_t>(since, 0, static_cast<std::int64_t>(kNumberMax)), {}};
    parts_.identity.seal().put_on(owned.own, stream);
    return owned;
}

void OwnedStreams::publish_locally(const std::string& stream, Owned& owned, TimePoint now) {
    owned.step = Step::unannounced;
    owned.own.epoch = parts_.finder.next_epoch(stream);
    decide(owned, Verdict::unregistered);
    if (parts_.queue.is_connected())
        announce_later(stream, owned, kRetry, now);
}

void OwnedStreams::decide(Owned& owned, Verdict verdict, const std::string& holder) {
    if (const std::uint64_t ticket = std::exchange(owned.ticket, 0); ticket != 0)
        parts_.notices.push(PublishDecided{ticket, verdict, holder});
}

void OwnedStreams::send_claim(const std::string& stream, Owned& owned, TimePoint now) {
    const bool is_fresh = owned.step == Step::asking;
    owned.is_postponed = false;
    owned.command = parts_.queue.send(Claim{stream, owned.own, is_fresh, owned.replaces, owned.dead}, now);
}

void OwnedStreams::announce_at(const std::string& stream, Owned& owned, TimePoint at) {
    if (owned.due != 0 && owned.due_at <= at)
        return;
    owned.due = parts_.queue.start_timer(at, ClusterTimer::Kind::announce, stream);
    owned.due_at = at;
}

// After this time and up to twice as much.
void OwnedStreams::announce_later(const std::string& stream, Owned& owned, Duration at_least, TimePoint now) {
    announce_at(stream, owned, now + at_least + parts_.queue.random_below(at_least));
}

void OwnedStreams::handle_timer(const ClusterTimer& timer, TimePoint now) {
    if (timer.kind == ClusterTimer::Kind::announce)
        return announce(timer.stream, timer.number, now);
    const auto owned = owned_.find(timer.stream);
    if (owned != owned_.end() && owned->second.confirm == timer.number && !owned->second.is_confirmed)
        unpublish(timer.stream, now);
}

void OwnedStreams::announce(const std::string& stream, std::uint64_t timer, TimePoint now) {
    const auto found = owned_.find(stream);
    if (found == owned_.end() || found->second.due != timer)
        return;
    Owned& owned = found->second;
    owned.due = 0;
    if (owned.command != 0 || owned.step == Step::asking)
        return;
    if (!parts_.queue.is_up()) {
        owned.is_postponed = true;
        return;
    }
    if (!parts_.queue.may_send())
        return announce_later(stream, owned, kPauseWhenFull, now);
    send_claim(stream, owned, now);
}

bool OwnedStreams::announce_soon(const std::string& stream, TimePoint now) {
    const auto owned = owned_.find(stream);
    if (owned == owned_.end())
        return false;
    announce_at(stream, owned->second, now + parts_.queue.random_below(kPauseWhenFull));
    return true;
}

// Spread over time, because all nodes do it at the same moment.
void OwnedStreams::announce_all(TimePoint now) {
    const auto paced = milliseconds(owned_.size() * 1'000 / kAnnouncedPerSecond);
    for (auto& [stream, owned] : owned_)
        announce_at(stream, owned, now + parts_.queue.random_below(std::max(paced, kAnnounceSpread)));
    send_withdrawals(now);
}

// The registry probably still has the confirmed records. If it has lost them, the answer to the next heartbeat shows that, or the
// connection is lost.
void OwnedStreams::announce_postponed(TimePoint now) {
    for (auto& [stream, owned] : owned_)
        if (owned.is_postponed || owned.step == Step::unannounced)
            announce_at(stream, owned, now + parts_.queue.random_below(kAnnounceSpread));
    send_withdrawals(now);
}

void OwnedStreams::renew(Duration spread, TimePoint now) {
    if (!parts_.queue.is_up())
        return;
    for (auto& [stream, owned] : owned_)
        if (owned.step == Step::unannounced || owned.renew_at <= now)
            announce_at(stream, owned, now + parts_.queue.random_below(spread));
}

void OwnedStreams::send_withdrawals(TimePoint now) {
    for (const auto& [stream, own] : withdrawals_)
        if (parts_.queue.may_send())
            parts_.queue.send(Withdraw{stream, own}, now);
}

void OwnedStreams::handle_failure(const Command& command, TimePoint now) {
    const auto* claim = std::get_if<Claim>(&command.what);
    const auto found = claim == nullptr ? owned_.end() : owned_.find(claim->stream);
    if (found == owned_.end() || found->second.command != command.id)
        return;
    Owned& owned = found->second;
    owned.command = 0;
    if (owned.step == Step::asking)
        return publish_locally(claim->stream, owned, now);
    if (parts_.queue.is_connected())
        announce_later(claim->stream, owned, kRetry, now);
}

void OwnedStreams::handle_claim(const Command& command, const ClaimDone& done, TimePoint now) {
    const Claim& claim = std::get<Claim>(command.what);
    const auto found = owned_.find(claim.stream);
    if (found == owned_.end())
        return;  // withdrawn meanwhile
    Owned& owned = found->second;
    if (owned.command != command.id && owned.command != 0)
        return;  // it was published again, and that claim is in flight
    const bool is_late = owned.command == 0;
    owned.command = 0;
    if (!done.is_granted) {
        // The epoch decides a claim of a publisher that was admitted meanwhile.
        if (!(is_late && claim.is_fresh))
            handle_refusal(claim, owned, done.holder, now);
        return;
    }
    owned.own.epoch = std::clamp<std::uint64_t>(done.epoch, 1, kNumberMax);
    owned.step = Step::held;
    owned.renew_at = now + kRenewal + parts_.queue.random_below(kRenewal / 2);
    decide(owned, Verdict::granted);
    const Seal& seal = parts_.identity.seal();
    if (seal.is_good(owned.own, claim.stream))
        return;
    // The registry has counted the epoch: the claim is signed with it and repeated.
    seal.put_on(owned.own, claim.stream);
    announce_at(claim.stream, owned, claim.is_fresh ? now : now + kRetry);
}

// With a secret, a node loses no stream to a record that no node has signed with its epoch. A newly admitted owner signs its
// record soon; any other unsigned record is forged and is overwritten.
bool OwnedStreams::takes_back(const Claim& claim, Owned& owned, const Result<OwnRecord>& holder, TimePoint now) {
    if (owned.step == Step::asking || (holder.ok() && parts_.identity.seal().is_good(*holder, claim.stream)))
        return false;
    if (holder.ok() && !parts_.identity.believes(*holder, claim.stream, now))
        owned.dead = NodeRun{holder->node, holder->run};
    announce_later(claim.stream, owned, kRetry, now);
    return true;
}

void OwnedStreams::handle_refusal(const Claim& claim, Owned& owned, const std::string& holder, TimePoint now) {
    const auto own = parse_own(holder);
    const bool is_good = own.ok() && parts_.identity.believes(*own, claim.stream, now);
    if (!is_good)
        ++parts_.counts.malformed;
    if (parts_.identity.seal().is_on() && takes_back(claim, owned, own, now))
        return;
    const std::string to = is_good ? own->node : std::string();
    if (is_good)
        parts_.finder.note_epoch(claim.stream, own->epoch);
    parts_.finder.forget(claim.stream);
    const std::string stream = claim.stream;
    if (owned.step == Step::asking) {
        decide(owned, Verdict::refused, to);
    } else {
        ++parts_.counts.lost;
        parts_.notices.push(Lost{stream, to});
    }
    owned_.erase(stream);
}

void OwnedStreams::handle_withdrawn(const Withdraw& withdraw) {
    const auto asked = withdrawals_.find(withdraw.stream);
    if (asked != withdrawals_.end() && asked->second == withdraw.own)
        withdrawals_.erase(asked);
}

std::size_t OwnedStreams::unannounced() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(owned_, [](const auto& entry) { return entry.second.step != Step::held; }));
}

const OwnRecord* OwnedStreams::find(const std::string& stream) const {
    const auto owned = owned_.find(stream);
    return owned == owned_.end() ? nullptr : &owned->second.own;
}

}  // namespace live::engine::cluster
