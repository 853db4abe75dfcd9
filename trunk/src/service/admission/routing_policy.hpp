// RoutingPolicy: which server has a stream. In a cluster, between workers and on an edge, a publisher claims its stream and may
// be sent elsewhere; a player is served here, served from a pull, or sent elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/cluster/player_redirector.hpp"
#include "service/ingest/streams_on_demand.hpp"
#include "service/relay/origins/origin_peers.hpp"
#include "service/relay/relay_service.hpp"
#include "service/workers/worker_service.hpp"

namespace live::service::admission {

// All must outlive the policy.
struct Routes {
    relay::RelayService& relay;
    relay::OriginPeers& origin_peers;
    cluster::ClusterService& cluster;
    cluster::PlayerRedirector& redirector;
    workers::WorkerService& workers;
};

class RoutingPolicy {
public:
    // `vhosts` must outlive this.
    RoutingPolicy(const VhostPolicy& vhosts, const Routes& routes) : vhosts_(vhosts), routes_(routes) {}

    // Streams that this server pulls or makes for their first viewers; they outlive this.
    void add_streams_on_demand(ingest::StreamsOnDemand& streams) { on_demand_.push_back(&streams); }

    // For a publisher, before callbacks: another node to send it to. nullopt: it may publish here. Errc::limit when this node
    // takes no publishers. Does not suspend.
    Result<std::optional<session::Redirect>> redirect_publisher(const session::ClientRequest& request) const;
    // For a publisher, after callbacks: claims the stream among workers and nodes, and ends its pull. Errors as
    // WorkerService::claim() and ClusterService::claim().
    Result<void> claim(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);

    // For a player, before callbacks, because the other server calls its own: another server to send it to. nullopt: it plays
    // here. Errors as OriginPeers::find() and PlayerRedirector::find().
    Result<std::optional<session::Redirect>> redirect_player(const session::ClientRequest& request,
                                                             const session::StreamPlan& plan, io::Deadline deadline);
    // For a player: whether its stream is to be pulled. Errc::not_found for another node that requests a stream that is not here.
    Result<bool> needs_pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);
    // For an admitted node: another node to pull from. Does not suspend.
    std::optional<session::Redirect> redirect_puller(const session::ClientRequest& request, const session::StreamPlan& plan) {
        return routes_.redirector.redirect_puller(request, plan);
    }
    // For a player that needs a pull: returns when the stream has media here, or may start without. Errors as
    // RelayService::pull().
    Result<void> pull(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);
    // As needs_pull() and RelayService::pull(), for a reader other than a player.
    Result<void> fetch(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);

    // See session::Admission. Neither suspends.
    bool may_pull(const session::ClientRequest& request) const;
    std::optional<session::Redirect> send_on(const session::ClientRequest& request) const;

    // Whether publishers of the virtual host are registered in the cluster. An edge's are registered by its origin.
    bool is_of_cluster(const std::string& vhost) const;
    // Whether another worker may have streams of the virtual host. On an edge, each worker pulls from the origins instead.
    bool is_of_workers(const std::string& vhost) const;

private:
    // Returns what fetches the stream for its first viewer; nullptr without it, and always for other workers.
    ingest::StreamsOnDemand* on_demand(const session::ClientRequest& request, const std::string& url) const;
    bool has_mode(const std::string& vhost, relay::ClusterMode mode) const;
    bool is_edge(const std::string& vhost) const { return has_mode(vhost, relay::ClusterMode::remote); }
    bool has_origin_peers(const std::string& vhost) const;
    Result<bool> is_elsewhere(const session::ClientRequest& request, const session::StreamPlan& plan, io::Deadline deadline);
    Result<bool> is_on_other_worker(const session::ClientRequest& request, const session::StreamPlan& plan,
                                    io::Deadline deadline);

    const VhostPolicy& vhosts_;
    const Routes routes_;
    std::vector<ingest::StreamsOnDemand*> on_demand_;
};

}  // namespace live::service::admission
