// ClusterService: this node in a cluster. It answers other services from an engine::cluster::ClusterNode, which decides, and a
// RegistryClient, which moves the bytes. Without a registry in the settings it does nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/log/log.hpp"
#include "base/signal.hpp"
#include "engine/cluster/cluster_node.hpp"
#include "io/tls/tls_context.hpp"
#include "media/source/stream_table.hpp"
#include "service/cluster/options.hpp"
#include "service/cluster/orphan_finder.hpp"
#include "service/cluster/rate_meter.hpp"
#include "service/cluster/registry_client.hpp"
#include "service/service.hpp"

namespace live::service::cluster {

// How the rest of the server reacts to decisions of the cluster. Must not suspend.
class ClusterEvents {
public:
    virtual ~ClusterEvents() = default;
    // The publisher of a stream must be closed.
    virtual void on_lost(const std::string& url, const std::string& why) = 0;
    // The stream may have moved to another node: a pull looks up its location.
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
    // Returns the record of this node for others; id, run, state, capacity and load are added.
    std::function<engine::cluster::NodeRecord()> describe;
    // Returns the bytes that this process has sent to all peers.
    std::function<std::uint64_t()> sent_bytes;
    // Reports whether publishers of the virtual host are registered.
    std::function<bool(const std::string& vhost)> takes_part;
};

struct PlacementCounts {
    std::uint64_t sent = 0;       // players sent to another node
    std::uint64_t stayed = 0;     // players that this node serves best, or that were sent here
    std::uint64_t handed_on = 0;  // nodes that were sent to another one for a stream of this node
};

class ClusterService final : public Service {
public:
    // For a connection to the owner of a stream, before a publisher is refused.
    static constexpr std::chrono::milliseconds kProbeLimit{200};
    // Probes at the same time; further publishers are refused without one.
    static constexpr std::size_t kProbesMax = 16;
    // How long a publisher waits until the node that owns the stream detects that its own publisher has left.
    static constexpr std::chrono::milliseconds kReturnLimit{500};
    static constexpr std::chrono::milliseconds kReturnLook{50};
    // For the notice of a drain to other nodes.
    static constexpr std::chrono::milliseconds kDrainLimit{200};

    // All referenced objects must outlive this. The options have been checked.
    ClusterService(ClusterContext context, ClusterEvents& events, Log log);
    ~ClusterService() override;
    ClusterService(const ClusterService&) = delete;
    ClusterService& operator=(const ClusterService&) = delete;

    bool is_on() const { return node_ != nullptr; }
    const RegistryOptions& options() const { return context_.options; }
    // Requests that a publisher is admitted. Errc::conflict when another node has the stream and `replaces` is off, Errc::limit,
    // Errc::cancelled. Waits at most ClusterNode::kWaitMax for the registry. Before a refusal it waits kProbeLimit more to see
    // whether the other node's process still runs. If that process has ended, it waits for the registry once more; otherwise
    // kReturnLimit more, until that node has noticed that its publisher has gone.
    Result<void> claim(const std::string& url, bool replaces, io::Deadline deadline);
    // Waits at most ClusterNode::kWaitMax. Errc::cancelled.
    Result<engine::cluster::StreamLocation> find(const std::string& url, io::Deadline deadline);
    // A client publishes the stream on this node; a pull does not count.
    bool publishes(const std::string& url) const { return published_.contains(url); }

    // For the API: see RegistryClient::call(). Errc::closed also without a registry.
    Result<engine::redis::Reply> call(std::vector<std::string> words, io::Deadline deadline);
    const engine::cluster::ClusterNode* node() const { return node_.get(); }
    // This node takes no further clients. Notifies other nodes; not undone. Does nothing on a server without a cluster.
    void drain(io::Deadline deadline);
    bool is_draining() const { return is_draining_; }
    bool takes_publishers() const { return !is_draining_ && context_.options.publishers; }
    PlacementCounts placements{};
    std::uint64_t connections() const { return is_on() ? registry_->connections() : 0; }

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override;
    void on_unpublished(const std::string& url) override;
    // The publisher may return at another one.
    void on_stand_in(const session::ClientRequest&, const session::StreamPlan& plan) override { on_unpublished(plan.url); }
    void on_tick() override;
    std::string_view name() const override { return "the cluster"; }
    void write_metrics(MetricsText& text) const override;

private:
    // A fiber that waits for a decision. Owned by it.
    template <class Value>
    struct Waiter {
        Signal signal;
        std::optional<Value> value;
    };

    Result<void> claim_again(const std::string& url, bool replaces, Result<void> claimed, io::Deadline deadline);
    Result<void> claim_once(const std::string& url, bool replaces, const std::optional<engine::cluster::NodeRun>& dead,
                            io::Deadline deadline);
    std::optional<engine::cluster::NodeRun> find_dead_owner(const std::string& url, io::Deadline answered, io::Deadline deadline);
    void run_timer(io::Deadline deadline);
    void run_orphans(io::Deadline deadline);
    // Call after each input of the node.
    void pump();
    void deliver(engine::cluster::Notice notice);
    void describe_self();

    const ClusterContext context_;
    ClusterEvents& events_;
    const Log log_;
    std::unique_ptr<engine::cluster::ClusterNode> node_;  // nullptr: off
    std::unique_ptr<RegistryClient> registry_;            // nullptr: off
    std::set<std::string> published_;
    std::unordered_map<std::uint64_t, Waiter<engine::cluster::PublishDecided>*> publishers_;
    std::unordered_map<std::uint64_t, Waiter<engine::cluster::StreamLocation>*> finders_;
    OrphanFinder orphans_;
    std::size_t probes_ = 0;
    bool is_draining_ = false;
    RateMeter sent_rate_;
    Signal timer_changed_;
};

}  // namespace live::service::cluster
