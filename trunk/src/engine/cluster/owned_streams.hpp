// OwnedStreams: the streams that are published on this node, and their claims in the registry. While the registry is away,
// streams are published and announced later. Dry.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/time.hpp"
#include "engine/cluster/node_identity.hpp"
#include "engine/cluster/notices.hpp"
#include "engine/cluster/registry_queue.hpp"
#include "engine/cluster/stream_finder.hpp"

namespace live::engine::cluster {

class OwnedStreams {
public:
    static constexpr std::size_t kStreamsMax = 100'000;
    // All streams are announced again within the longer of these times, and at most this many per second.
    static constexpr std::chrono::milliseconds kAnnounceSpread{1'000};
    static constexpr std::size_t kAnnouncedPerSecond = 4'000;
    // An unchanged stream is announced again after this and up to half as much.
    static constexpr std::chrono::minutes kRenewal{20};
    // A granted publisher that is not confirmed is removed.
    static constexpr std::chrono::seconds kConfirmWithin{10};
    static constexpr std::chrono::milliseconds kRetry{1'000};

    // The parts of a node that its streams use. They must outlive this.
    struct Parts {
        NodeIdentity& identity;
        RegistryQueue& queue;
        NoticeQueue& notices;
        StreamFinder& finder;
        ClusterCounts& counts;
    };

    explicit OwnedStreams(Parts parts) : parts_(parts) {}

    // See ClusterNode.
    void publish(const std::string& stream, std::uint64_t ticket, bool replaces, std::int64_t since, TimePoint now,
                 const std::optional<NodeRun>& dead);
    void confirm(const std::string& stream, std::int64_t since, TimePoint now);
    void unpublish(const std::string& stream, TimePoint now);

    void handle_claim(const Command& command, const ClaimDone& done, TimePoint now);
    void handle_withdrawn(const Withdraw& withdraw);
    // A claim is not answered, or late.
    void handle_failure(const Command& command, TimePoint now);
    void handle_timer(const ClusterTimer& timer, TimePoint now);
    // The registry has a record of this run of this node for a stream that is not published here.
    void withdraw(const std::string& stream, const OwnRecord& own) { withdrawals_.try_emplace(stream, own); }

    // Announces one stream soon, because its owner may have changed. Returns false if the stream is not published here.
    bool announce_soon(const std::string& stream, TimePoint now);
    // The registry may have lost the records.
    void announce_all(TimePoint now);
    // The registry was late and answers again.
    void announce_postponed(TimePoint now);
    // Announces streams that were not announced for kRenewal.
    void renew(Duration spread, TimePoint now);
    void send_withdrawals(TimePoint now);

    bool contains(const std::string& stream) const { return owned_.contains(stream); }
    std::size_t size() const { return owned_.size(); }
    // Returns the number of streams that the registry has not confirmed.
    std::size_t unannounced() const;
    const OwnRecord* find(const std::string& stream) const;
    template <class Each>
    void for_each(Each&& each) const {
        for (const auto& [stream, owned] : owned_)
            each(stream, owned.own);
    }

private:
    enum class Step : std::uint8_t { asking, unannounced, held };
    struct Owned {
        OwnRecord own{};
        Step step = Step::asking;
        bool replaces = false;
        std::optional<NodeRun> dead{};
        bool is_confirmed = false;
        bool is_postponed = false;  // to be announced when the registry answers again
        std::uint64_t ticket = 0;   // of a publisher that waits; 0: none
        std::uint64_t command = 0;  // the claim that is in flight; 0: none
        std::uint64_t due = 0;      // the timer that announces it; 0: none
        TimePoint due_at{};
        std::uint64_t confirm = 0;  // the timer that removes it unless it is confirmed
        TimePoint renew_at{};       // while it is held
    };

    Owned& add(const std::string& stream, std::int64_t since);
    void publish_locally(const std::string& stream, Owned& owned, TimePoint now);
    void decide(Owned& owned, Verdict verdict, const std::string& holder = {});
    void send_claim(const std::string& stream, Owned& owned, TimePoint now);
    void announce(const std::string& stream, std::uint64_t timer, TimePoint now);
    void announce_at(const std::string& stream, Owned& owned, TimePoint at);
    void announce_later(const std::string& stream, Owned& owned, Duration at_least, TimePoint now);
    void handle_refusal(const Claim& claim, Owned& owned, const std::string& holder, TimePoint now);
    bool takes_back(const Claim& claim, Owned& owned, const Result<OwnRecord>& holder, TimePoint now);

    const Parts parts_;
    std::unordered_map<std::string, Owned> owned_;
    std::unordered_map<std::string, OwnRecord> withdrawals_;  // unanswered
};

}  // namespace live::engine::cluster
