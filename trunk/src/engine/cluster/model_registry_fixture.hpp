// A registry in memory that executes the commands like the scripts of the real one.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "engine/cluster/registry.hpp"

namespace live::engine::cluster {

class ModelRegistry {
public:
    Answer execute(const Command& command, TimePoint now) {
        return std::visit([&](const auto& what) { return Answer(run(what, now)); }, command.what);
    }
    std::vector<std::string> take_events() { return std::exchange(events_, {}); }
    void clear() {
        nodes_.clear();
        owners_.clear();
    }

    // Returns the owner if its lease lives.
    std::optional<OwnRecord> owner(const std::string& stream, TimePoint now) const {
        const auto found = owners_.find(stream);
        return found != owners_.end() && lives(found->second, now) ? std::optional(found->second) : std::nullopt;
    }
    // Another client writes to the registry.
    void put(const std::string& stream, const OwnRecord& own) { owners_[stream] = own; }
    void put(const NodeRecord& node, TimePoint until) { nodes_[node.id] = {node, until}; }
    std::size_t streams() const { return owners_.size(); }

private:
    struct Lease {
        NodeRecord node;
        TimePoint until;
    };

    bool lives(const OwnRecord& own, TimePoint now) const {
        const auto lease = nodes_.find(own.node);
        return lease != nodes_.end() && lease->second.until > now && lease->second.node.run == own.run;
    }

    BeatDone run(const Beat& beat, TimePoint now) {
        const auto lease = nodes_.find(beat.node.id);
        const bool is_held = lease != nodes_.end() && lease->second.until > now;
        const bool is_same = is_held && lease->second.node.run == beat.node.run;
        nodes_[beat.node.id] = {beat.node, now + beat.lease};
        return {is_same, is_held && !is_same};
    }
    ClaimDone run(const Claim& claim, TimePoint now) {
        const auto found = owners_.find(claim.stream);
        OwnRecord wanted = claim.own;
        bool is_change = true;
        if (found != owners_.end()) {
            const OwnRecord& holder = found->second;
            const bool is_ours = holder.node == wanted.node && holder.run == wanted.run;
            const bool is_dead = claim.dead == NodeRun{holder.node, holder.run};
            const bool is_alive = !is_ours && !is_dead && lives(holder, now);
            const bool drains = is_alive && nodes_.at(holder.node).node.state == NodeRecord::State::draining;
            if (is_alive && claim.is_fresh && !claim.replaces && !drains)
                return {false, 0, text_of(holder)};
            if (is_alive && !claim.is_fresh && is_higher(holder, wanted))
                return {false, 0, text_of(holder)};
            is_change = claim.is_fresh || !is_ours;
            if (claim.is_fresh)
                wanted.epoch = holder.epoch + 1;
            else if (is_ours || !is_alive)
                wanted.epoch = std::max(wanted.epoch, holder.epoch + (is_ours ? 0 : 1));
        }
        wanted.epoch = std::max<std::uint64_t>(wanted.epoch, 1);
        owners_[claim.stream] = wanted;
        if (is_change)
            events_.push_back(text_of(Event{found == owners_.end() ? Event::Kind::published : Event::Kind::moved, wanted.node,
                                            wanted.run, wanted.epoch, claim.stream}));
        return {true, wanted.epoch, {}};
    }
    WithdrawDone run(const Withdraw& withdraw, TimePoint) {
        const auto found = owners_.find(withdraw.stream);
        if (found == owners_.end())
            return {};
        const OwnRecord& own = found->second;
        if (own.node != withdraw.own.node || own.run != withdraw.own.run ||
            (withdraw.own.epoch != 0 && withdraw.own.epoch != own.epoch))
            return {};
        events_.push_back(text_of(Event{Event::Kind::gone, own.node, own.run, own.epoch, withdraw.stream}));
        owners_.erase(found);
        return {};
    }
    StreamLookupDone run(const StreamLookup& look, TimePoint now) const {
        const auto found = owners_.find(look.stream);
        if (found == owners_.end())
            return {};
        const auto lease = nodes_.find(found->second.node);
        const bool is_there = lease != nodes_.end() && lease->second.until > now;
        return {text_of(found->second), is_there ? text_of(lease->second.node) : std::string()};
    }
    NodesDone run(const ListNodes&, TimePoint now) const {
        NodesDone done;
        for (const auto& [id, lease] : nodes_)
            if (lease.until > now)
                done.nodes.emplace_back(id, text_of(lease.node));
        return done;
    }

    std::unordered_map<std::string, Lease> nodes_;
    std::unordered_map<std::string, OwnRecord> owners_;
    std::vector<std::string> events_;
};

}  // namespace live::engine::cluster
