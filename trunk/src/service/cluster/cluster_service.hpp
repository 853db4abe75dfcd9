// ClusterService: this node in a cluster. It moves the bytes between engine::cluster::Member, which decides, and the registry: a
// connection for commands, one for events, and a timer, each in a fiber. Without a registry in the settings it does nothing.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/cluster/member.hpp"
#include "io/tls/tls_context.hpp"
#include "media/source/stream_table.hpp"
#include "service/cluster/options.hpp"
#include "service/cluster/rate_meter.hpp"
#include "service/cluster/redis_link.hpp"
#include "service/service.hpp"

namespace live::service::cluster {

// What the rest of the server does when the cluster decides. Must not suspend.
class ClusterEvents {
public:
    virtual ~ClusterEvents() = default;
    // The publisher of a stream is to be closed.
    virtual void on_lost(const std::string& url, const std::string& why) = 0;
    // Another node may have the stream now: a pull looks again.
    virtual void on_moved(const std::string& url) = 0;
    // A stream with viewers and no publisher here is on another node.
    virtual void on_elsewhere(const std::string& url) = 0;
    // The stream has a publisher on another node, and on_lost follows.
    virtual void on_taken(const std::string& /*url*/) {}
};

struct ClusterContext {
    RegistryOptions options;
    std::string node_id;
    media::StreamTable& streams;
    io::TlsContext* tls = nullptr;
    MutBytes scratch;
    // This node, as others shall see it now; id, run, state, capacity and load are added.
    std::function<engine::cluster::NodeRecord()> describe;
    // Bytes that this process has sent to anybody.
    std::function<std::uint64_t()> sent_bytes;
    // Whether publishers of the virtual host are registered.
    std::function<bool(const std::string& vhost)> takes_part;
};

struct PlacementCounts {
    std::uint64_t sent = 0;       // players sent to another node
    std::uint64_t stayed = 0;     // players for whom this node was the best, or who had been sent here
    std::uint64_t handed_on = 0;  // nodes that were sent to another one for a stream of this node
};

class ClusterService final : public Service {
public:
    using Member = engine::cluster::Member;

    static constexpr std::chrono::milliseconds kBackoffFirst{100};
    static constexpr std::chrono::milliseconds kBackoffMax{2'000};
    // Streams that wait to be looked for, because they have viewers and no publisher.
    static constexpr std::size_t kOrphansMax = 1'000;
    static constexpr std::chrono::seconds kOrphanPeriod{2};
    static constexpr std::size_t kCallsMax = 64;
    // For a connection to the owner of a stream, before a publisher is refused.
    static constexpr std::chrono::milliseconds kProbeLimit{200};
    // For telling other nodes of a drain.
    static constexpr std::chrono::milliseconds kDrainLimit{200};
    // Of probes at the same time; publishers above it are refused without one.
    // How long a newcomer waits for the node that has the stream to notice that its publisher has gone.
    static constexpr std::chrono::milliseconds kReturnLimit{500};
    static constexpr std::chrono::milliseconds kReturnLook{50};
    static constexpr std::size_t kProbesMax = 16;

    // Everything referred to outlives this. The options have been checked.
    ClusterService(ClusterContext context, ClusterEvents& events, Log log);
    ~ClusterService() override;
    ClusterService(const ClusterService&) = delete;
    ClusterService& operator=(const ClusterService&) = delete;

    bool is_on() const { return member_ != nullptr; }
    const RegistryOptions& options() const { return context_.options; }
    // A publisher wants to be let in. Errc::conflict when another node has the stream and `replaces` is off, Errc::limit,
    // Errc::cancelled. Waits at most Member::kWaitMax for the registry; when it is to be refused, kProbeLimit more to see whether
    // the other node's process still lives, and when that has ended, once more for the registry; else kReturnLimit more, until
    // that node has noticed that its publisher is gone.
    Result<void> claim(const std::string& url, bool replaces, io::Deadline deadline);
    // Waits at most Member::kWaitMax. Errc::cancelled.
    Result<engine::cluster::Whereabouts> find(const std::string& url, io::Deadline deadline);
    // A client publishes the stream on this node; a pull does not count.
    bool publishes(const std::string& url) const { return published_.contains(url); }

    // For the API: a command beside the member's. Errc::closed while the registry is away, Errc::limit, Errc::timed_out.
    Result<engine::redis::Reply> call(std::vector<std::string> words, io::Deadline deadline);
    const Member* member() const { return member_.get(); }
    // Nobody is to be placed here any more. Other nodes are told; not undone. Does nothing on a server that is alone.
    void drain(io::Deadline deadline);
    bool is_draining() const { return is_draining_; }
    bool takes_publishers() const { return !is_draining_ && context_.options.publishers; }
    PlacementCounts placements{};
    std::uint64_t connections() const { return connections_; }

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    void on_tick() override;
    std::string_view name() const override { return "the cluster"; }
    void write_metrics(MetricsText& text) const override;

private:
    // A fiber that waits for a decision or a reply. Owned by it.
    template <class Value>
    struct Waiter {
        Signal signal;
        std::optional<Value> value;
    };
    using CallWaiter = Waiter<Result<engine::redis::Reply>>;
    // A command that the registry has not answered.
    struct Sent {
        engine::cluster::Command command{};
        std::uint64_t call = 0;  // not the member's, but of a caller: its number
        TimePoint at{};
    };
    struct QueuedCall {
        std::uint64_t number = 0;
        std::vector<std::string> words;
    };

    Result<void> claim_again(const std::string& url, bool replaces, Result<void> claimed, io::Deadline deadline);
    Result<void> claim_once(const std::string& url, bool replaces, const std::optional<engine::cluster::NodeRun>& dead,
                            io::Deadline deadline);
    std::optional<engine::cluster::NodeRun> find_dead_owner(const std::string& url, io::Deadline answered, io::Deadline deadline);
    void run_commands(io::Deadline deadline);
    void run_events(io::Deadline deadline);
    void run_timer(io::Deadline deadline);
    void run_orphans(io::Deadline deadline);
    Result<void> serve_commands(RedisLink& link, io::Deadline deadline);
    Result<void> take_replies(RedisLink& link);
    void send_commands(RedisLink& link);
    Result<void> serve_events(RedisLink& link, io::Deadline deadline);
    void end_calls();
    void end_call(std::uint64_t number, Result<engine::redis::Reply> reply);
    // After each input of the member.
    void pump();
    void deliver(engine::cluster::Notice notice);
    void note_orphan(const std::string& url);
    void find_orphans();
    bool is_orphan(const std::string& url) const;
    void describe_self();
    void warn_of_namesakes();

    const ClusterContext context_;
    ClusterEvents& events_;
    const Log log_;
    RegistryUrl url_;
    std::unique_ptr<Member> member_;  // nullptr: off
    std::set<std::string> published_;
    std::unordered_map<std::uint64_t, Waiter<engine::cluster::PublishDecided>*> publishers_;
    std::unordered_map<std::uint64_t, Waiter<engine::cluster::Whereabouts>*> finders_;
    std::unordered_map<std::uint64_t, CallWaiter*> callers_;
    std::deque<QueuedCall> calls_;
    std::deque<Sent> sent_;
    std::set<std::string> orphans_;
    std::uint64_t next_call_ = 1;
    std::uint64_t connections_ = 0;
    std::size_t probes_ = 0;
    bool is_connected_ = false;
    bool is_draining_ = false;
    RateMeter sent_rate_;
    std::string why_away_;  // what was last logged
    std::uint64_t namesakes_ = 0;
    Signal commands_wait_;  // something is to be sent
    Signal timer_changed_;
    Signal orphans_wait_;
    TimePoint orphans_at_{};
};

}  // namespace live::service::cluster
