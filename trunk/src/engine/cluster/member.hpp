// Member: one node's part in a cluster. It keeps the node's lease and its streams in the registry and finds the owners of other
// streams. While the registry is away, publishing and playing continue, streams are announced later, and answers come from the
// cache. Dry: messages and time in, messages out; the owner moves the bytes.
//
// After each input, drain poll_command() and poll_notice(); call handle_timeout() at next_timeout(). No answer takes longer than
// kWaitMax.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "engine/cluster/registry.hpp"
#include "engine/cluster/seal.hpp"

namespace live::engine::cluster {

struct MemberOptions {
    std::chrono::milliseconds beat{2'000};
    std::chrono::milliseconds lease{8'000};
    // The same on all nodes: they sign their records and treat unsigned ones as malformed. Empty: no signatures.
    std::string secret{};
};

// Where a stream is.
struct Here {};
struct There {
    OwnRecord own;
    NodeRecord node;
};
struct Nowhere {};
// The registry is away, and the owner is unknown.
struct Unknown {};
using Whereabouts = std::variant<Here, There, Nowhere, Unknown>;

// The answer to a publisher's question.
enum class Verdict : std::uint8_t {
    granted,
    unregistered,  // the registry does not answer: the stream is published all the same, and announced later
    refused,       // another node has it
    too_many,      // kStreamsMax
};

// Notices to the member's owner.
struct PublishDecided {
    std::uint64_t ticket = 0;
    Verdict verdict = Verdict::granted;
    std::string holder{};  // the node that has it, when it is refused
};
struct FindDecided {
    std::uint64_t ticket = 0;
    Whereabouts where;
};
// Another node has a stream that this node has announced: its publisher is to be closed, and its players are served from there.
struct Lost {
    std::string stream;
    std::string to;
};
// The owner of a stream has changed, or may have.
struct Moved {
    std::string stream;
};
// An operator ends a stream.
struct Kicked {
    std::string stream;
};
using Notice = std::variant<PublishDecided, FindDecided, Lost, Moved, Kicked>;

struct MemberCounts {
    std::uint64_t commands = 0;
    std::uint64_t timeouts = 0;
    std::uint64_t refusals = 0;
    std::uint64_t malformed = 0;  // malformed records and events of the registry
    std::uint64_t lost = 0;       // streams
    std::uint64_t namesakes = 0;  // beats that found the lease held by another process
};

class Member {
public:
    static constexpr std::chrono::milliseconds kWaitMax{200};
    // How long an answer is cached: an owner, and the absence of one.
    static constexpr std::chrono::seconds kCacheAge{5};
    static constexpr std::chrono::seconds kNowhereAge{1};
    // How long a cached answer is used while the registry is away.
    static constexpr std::chrono::minutes kOldAge{10};
    static constexpr std::size_t kCacheMax = 65'536;
    static constexpr std::size_t kStreamsMax = 100'000;
    static constexpr std::size_t kNodesMax = 1'024;
    static constexpr std::size_t kWaitersMax = 10'000;
    static constexpr std::size_t kNoticesMax = 65'536;
    // Unanswered commands.
    static constexpr std::size_t kInFlightMax = 512;
    // After this many consecutive commands without an answer in time, the registry counts as away: only beats are sent.
    static constexpr int kTimeoutsMax = 3;
    // All streams are announced again within the longer of these times, and at most this many per second.
    static constexpr std::chrono::milliseconds kAnnounceSpread{1'000};
    static constexpr std::size_t kAnnouncedPerSecond = 4'000;
    // An unchanged stream is announced again after this and up to half as much.
    static constexpr std::chrono::minutes kRenewal{20};
    // A granted publisher that does not confirm is forgotten.
    static constexpr std::chrono::seconds kConfirmWithin{10};
    static constexpr std::chrono::seconds kListPeriod{5};
    static constexpr std::chrono::milliseconds kRetry{1'000};

    // `self` names this node and this run of it. `seed`: of the jitter.
    Member(MemberOptions options, NodeRecord self, std::uint64_t seed);

    // Sets the record that the next beat writes. `wall` is the wall clock in milliseconds, which dates signed records.
    void set_self(NodeRecord self, std::int64_t wall, TimePoint now);
    const NodeRecord& self() const { return self_; }
    // Writes the record now, because its state has changed.
    void announce_state(TimePoint now);

    // A connection to the registry exists, or is lost with all unanswered commands.
    void handle_connected(TimePoint now);
    void handle_disconnected(TimePoint now);
    void handle_answer(std::uint64_t command, const Answer& answer, TimePoint now);
    // The text of an event, unchecked.
    void handle_event(std::string_view text, TimePoint now);
    // Events may have been missed: known streams of other nodes are looked up again, and another node may have taken over one of
    // ours.
    void handle_events_missed(TimePoint now);
    void handle_timeout(TimePoint now);

    // Requests that a publisher of the stream is admitted. The answer is a PublishDecided with this ticket within kWaitMax; the
    // caller must call confirm() when the publisher is admitted. `since`: milliseconds of the wall clock. `dead`: see Claim.
    std::uint64_t publish(const std::string& stream, bool replaces, std::int64_t since, TimePoint now,
                          const std::optional<NodeRun>& dead = {});
    void confirm(const std::string& stream, std::int64_t since, TimePoint now);
    void unpublish(const std::string& stream, TimePoint now);
    // Looks a stream up. The answer is a FindDecided with this ticket. Repeated lookups, as by the parts of a join, share one
    // wait: while the answer is late, a further find() is answered at once and no command is repeated.
    std::uint64_t find(const std::string& stream, TimePoint now);
    // Drops the cached answer, because it does not work for the caller: the next find() sends a command to the registry.
    void forget(const std::string& stream);

    bool has_commands() const { return !commands_.empty(); }
    std::optional<Command> poll_command();
    std::optional<Notice> poll_notice();
    std::optional<TimePoint> next_timeout() const;

    // Whether the registry answers.
    bool is_up() const { return is_connected_ && timeouts_in_row_ < kTimeoutsMax; }
    bool owns(const std::string& stream) const { return owned_.contains(stream); }
    std::size_t owned() const { return owned_.size(); }
    // Streams that the registry has not confirmed.
    std::size_t unannounced() const;
    // The other nodes, as last listed.
    const std::vector<NodeRecord>& neighbours() const { return nodes_; }
    // Returns the record of a stream that this node owns; nullptr if it does not own it.
    const OwnRecord* find_own(const std::string& stream) const;
    template <class Each>
    void for_each_owned(Each&& each) const {
        for (const auto& [stream, owned] : owned_)
            each(stream, owned.own);
    }
    // Whether the registry's record of a stream's owner is one of this cluster's.
    bool believes(const OwnRecord& own, std::string_view stream, TimePoint now) const {
        return seal_.is_good(own, stream) || seal_.is_good_claim(own, stream, wall(now));
    }
    const MemberCounts& counts() const { return counts_; }
    const Seal& seal() const { return seal_; }
    // From the newest command to its answer.
    Duration latency() const { return latency_; }

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
        std::uint64_t confirm = 0;  // the timer that forgets it unless it is confirmed
        TimePoint renew_at{};       // while it is held
    };
    struct Cached {
        Whereabouts where;
        std::uint64_t epoch = 0;  // the highest that was seen
        TimePoint at{};
        bool is_stale = false;  // to be looked up, if the registry answers
    };
    struct InFlight {
        Command command;
        TimePoint sent{};
        bool is_late = false;  // its waiters have been answered
    };
    struct Timer {
        enum class What : std::uint8_t { beat, list, announce, confirm, answer };
        TimePoint at{};
        std::uint64_t number = 0;
        What what = What::beat;
        std::string stream{};
        bool operator>(const Timer& other) const { return at > other.at || (at == other.at && number > other.number); }
    };

    std::uint64_t start_timer(TimePoint at, Timer::What what, std::string stream = {});
    void fire(const Timer& timer, TimePoint now);
    std::uint64_t send(decltype(Command::what) what, TimePoint now);
    void send_beat(TimePoint now);
    Beat signed_beat(TimePoint now);
    void send_claim(const std::string& stream, Owned& owned, TimePoint now);
    void announce(const std::string& stream, std::uint64_t timer, TimePoint now);
    void announce_all(TimePoint now);
    void announce_postponed(TimePoint now);
    void announce_at(const std::string& stream, Owned& owned, TimePoint at);
    void renew(TimePoint now);
    void send_withdrawals(TimePoint now);
    bool may_send() const { return is_up() && in_flight_.size() < kInFlightMax; }
    void note_alive(TimePoint now);
    void give_up(const Command& command, TimePoint now);

    void on_beat(const BeatDone& done, TimePoint now);
    void on_claim(const Command& command, const ClaimDone& done, TimePoint now);
    void on_refused(const Claim& claim, Owned& owned, const std::string& holder, TimePoint now);
    bool takes_back(const Claim& claim, Owned& owned, const Result<OwnRecord>& holder, TimePoint now);
    void on_withdrawn(const Withdraw& withdraw);
    void on_look(const std::string& stream, const LookDone& done, TimePoint now);
    void on_nodes(const NodesDone& done, TimePoint now);
    bool is_meant(const Event& kick, const OwnRecord& own) const;
    void on_change(const Event& event, TimePoint now);
    Whereabouts read(const std::string& stream, const LookDone& done, TimePoint now);
    std::int64_t wall(TimePoint now) const {
        return wall_ + std::chrono::duration_cast<std::chrono::milliseconds>(now - wall_at_).count();
    }

    Owned& add(const std::string& stream, std::int64_t since);
    void let_in(Owned& owned, Verdict verdict, const std::string& holder = {});
    void publish_locally(const std::string& stream, Owned& owned, TimePoint now);
    std::uint64_t next_epoch(const std::string& stream) const;
    Cached& cached(const std::string& stream);
    void tell_finders(const std::string& stream, const Whereabouts& where);
    Whereabouts best_guess(const std::string& stream, TimePoint now) const;
    void say(Notice notice);

    std::uint64_t random();
    Duration random_below(Duration limit);

    const MemberOptions options_;
    const Seal seal_;
    NodeRecord self_;
    std::int64_t wall_ = 0;
    TimePoint wall_at_{};
    std::uint64_t random_state_;
    bool is_connected_ = false;
    std::uint64_t beats_answered_ = 0;  // on this connection
    int timeouts_in_row_ = 0;
    std::uint64_t next_id_ = 1;  // of commands, tickets and timers
    std::uint64_t beat_timer_ = 0;
    std::uint64_t list_timer_ = 0;
    Duration latency_{};
    MemberCounts counts_;

    std::unordered_map<std::string, Owned> owned_;
    std::unordered_map<std::string, OwnRecord> withdrawals_;  // not answered yet
    std::unordered_map<std::string, Cached> cache_;
    std::unordered_map<std::string, std::vector<std::uint64_t>> finders_;  // tickets that wait for a look
    std::size_t waiting_finders_ = 0;
    std::unordered_set<std::string> late_looks_;  // unanswered and without waiters: at most kInFlightMax
    std::vector<NodeRecord> nodes_;
    std::unordered_map<std::uint64_t, InFlight> in_flight_;
    std::deque<Command> commands_;
    std::deque<Notice> notices_;
    std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

}  // namespace live::engine::cluster
