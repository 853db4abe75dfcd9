// ClusterNode: one node's part in a cluster. It keeps the node's lease and its streams in the registry and finds the owners of
// other streams. While the registry is away, publishing and playing continue, streams are announced later, and answers come from
// the cache. Dry: messages and time in, messages out; the owner moves the bytes.
//
// After each input, drain poll_command() and poll_notice(); call handle_timeout() at next_timeout(). No answer takes longer than
// RegistryQueue::kWaitMax.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "engine/cluster/node_identity.hpp"
#include "engine/cluster/notices.hpp"
#include "engine/cluster/owned_streams.hpp"
#include "engine/cluster/registry.hpp"
#include "engine/cluster/registry_queue.hpp"
#include "engine/cluster/stream_finder.hpp"

namespace live::engine::cluster {

struct ClusterNodeOptions {
    std::chrono::milliseconds beat{2'000};
    std::chrono::milliseconds lease{8'000};
    // The same on all nodes: they sign their records and treat unsigned ones as malformed. Empty: no signatures.
    std::string secret{};
};

class ClusterNode {
public:
    static constexpr std::chrono::milliseconds kWaitMax = RegistryQueue::kWaitMax;
    static constexpr std::size_t kNodesMax = 1'024;
    static constexpr std::chrono::seconds kListPeriod{5};

    // `self` names this node and this run of it. `seed` is for the jitter.
    ClusterNode(ClusterNodeOptions options, NodeRecord self, std::uint64_t seed);
    ClusterNode(const ClusterNode&) = delete;
    ClusterNode& operator=(const ClusterNode&) = delete;

    // Sets the record that the next heartbeat writes. `wall` is the wall clock in milliseconds, which dates signed records.
    void set_self(NodeRecord self, std::int64_t wall, TimePoint now) { identity_.set_self(std::move(self), wall, now); }
    const NodeRecord& self() const { return identity_.self(); }
    // Writes the record now, because its state has changed.
    void announce_state(TimePoint now);

    // A connection to the registry exists, or is lost with all unanswered commands.
    void handle_connected(TimePoint now);
    void handle_disconnected(TimePoint now);
    void handle_answer(std::uint64_t command, const Answer& answer, TimePoint now);
    // `text` is the text of an event, unchecked.
    void handle_event(std::string_view text, TimePoint now);
    // Events may have been missed: known streams of other nodes are looked up again, and another node may have taken over one of
    // ours.
    void handle_events_missed(TimePoint now);
    void handle_timeout(TimePoint now);

    // Requests that a publisher of the stream is admitted. The answer is a PublishDecided with this ticket within kWaitMax; the
    // caller must call confirm() when the publisher is admitted. `since`: milliseconds of the wall clock. `dead`: see Claim.
    std::uint64_t publish(const std::string& stream, bool replaces, std::int64_t since, TimePoint now,
                          const std::optional<NodeRun>& dead = {});
    void confirm(const std::string& stream, std::int64_t since, TimePoint now) { streams_.confirm(stream, since, now); }
    void unpublish(const std::string& stream, TimePoint now) { streams_.unpublish(stream, now); }
    // Looks a stream up. The answer is a FindDecided with this ticket. Repeated lookups, as by the parts of a join, share one
    // wait: while the answer is late, a further find() is answered at once and no command is repeated.
    std::uint64_t find(const std::string& stream, TimePoint now);
    // Drops the cached answer, because it does not work for the caller: the next find() sends a command to the registry.
    void forget(const std::string& stream) { finder_.forget(stream); }

    bool has_commands() const { return queue_.has_commands(); }
    std::optional<Command> poll_command() { return queue_.poll_command(); }
    std::optional<Notice> poll_notice() { return notices_.poll(); }
    std::optional<TimePoint> next_timeout() const { return queue_.next_timeout(); }

    // Reports whether the registry answers.
    bool is_up() const { return queue_.is_up(); }
    const OwnedStreams& streams() const { return streams_; }
    // Returns the other nodes, as last listed.
    const std::vector<NodeRecord>& neighbours() const { return nodes_; }
    // Reports whether a node of this cluster has written the record of a stream's owner.
    bool believes(const OwnRecord& own, std::string_view stream, TimePoint now) const {
        return identity_.believes(own, stream, now);
    }
    const ClusterCounts& counts() const { return counts_; }
    const Seal& seal() const { return identity_.seal(); }
    // From the newest answered command to its answer.
    Duration latency() const { return queue_.latency(); }

private:
    void handle_timer(const ClusterTimer& timer, TimePoint now);
    void handle_late(const Command& command, TimePoint now);
    void handle_failure(const Command& command, TimePoint now);
    void send_heartbeat(TimePoint now);
    void handle_heartbeat(const BeatDone& done, TimePoint now);
    StreamLocation location_of(const std::string& stream, const StreamLookupDone& done, TimePoint now);
    void handle_nodes(const NodesDone& done, TimePoint now);
    void handle_change(const Event& event, TimePoint now);
    bool is_meant(const Event& kick, const OwnRecord& own) const;

    const ClusterNodeOptions options_;
    NodeIdentity identity_;
    ClusterCounts counts_;
    NoticeQueue notices_;
    RegistryQueue queue_;
    StreamFinder finder_;
    OwnedStreams streams_;
    std::vector<NodeRecord> nodes_;
    std::uint64_t heartbeats_answered_ = 0;  // on this connection
    std::uint64_t heartbeat_timer_ = 0;
    std::uint64_t list_timer_ = 0;
};

}  // namespace live::engine::cluster
