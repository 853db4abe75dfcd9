// PlayerRedirector: with `redirect on`, redirects players to the node of the cluster that serves them best, and all clients to
// other nodes while this node drains. engine/cluster/placement.hpp chooses the node; this class checks that the client can
// follow, and prevents loops. For nodes that pull a stream of this one, engine/cluster/puller_tree.hpp chooses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cluster/placement.hpp"
#include "engine/cluster/puller_tree.hpp"
#include "io/fibers/deadline.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/relay/relay_service.hpp"
#include "session/common/admission.hpp"

namespace live::service::cluster {

class PlayerRedirector {
public:
    // Both must outlive this.
    PlayerRedirector(ClusterService& node, const relay::RelayService& relay) : cluster_(node), relay_(relay) {}

    // For a player at admission. Returns nullopt if this node serves it. Waits as ClusterService::find() does. Errc::cancelled.
    Result<std::optional<session::Redirect>> find(const session::ClientRequest& request, const std::string& url,
                                                  io::Deadline deadline);
    // For a player that this node serves already, at its next request: only while this node drains. Does not suspend.
    std::optional<session::Redirect> send_on(const session::ClientRequest& request);
    // For a WHIP publisher that this node does not accept; the other protocols have no redirect. Does not suspend.
    std::optional<session::Redirect> other_for_publisher(const session::ClientRequest& request) const;
    // For a client of this node, while it drains: the node at which the client can continue by itself. Without `redirect` the
    // address is empty: the client finds another node by the way in which it found this one. Does not suspend.
    std::optional<session::Redirect> move(const session::ClientRequest& request) const;

    // For an admitted node that pulls a stream: the node to pull it from instead. Returns nullopt if this node sends it, until
    // on_play_ended(). Does not suspend.
    std::optional<session::Redirect> redirect_puller(const session::ClientRequest& request, const session::StreamPlan& plan);
    void on_play_ended(const session::ClientRequest& request, const std::string& url);

private:
    const engine::cluster::NodeRecord* choose(const session::ClientRequest& request, bool has_stream,
                                              const engine::cluster::NodeRecord* owner,
                                              std::vector<engine::cluster::NodeRecord>& others) const;
    std::optional<session::Redirect> send(const session::ClientRequest& request, bool has_stream,
                                          const engine::cluster::NodeRecord* owner);
    session::Redirect place_of(const engine::cluster::NodeRecord& node, std::string mark) const;
    std::string mark() const;

    ClusterService& cluster_;
    const relay::RelayService& relay_;
    engine::cluster::PullerTree pullers_;
};

// Returns the port of a node that a redirected client needs; nullopt if the client's protocol has no redirect that clients
// follow. Clients over TLS and WebSocket are never redirected: the other node's address is in no certificate, and scripts cannot
// follow. Pure.
std::optional<std::uint16_t engine::cluster::NodeRecord::*> port_for(const session::ClientRequest& request);

// Returns the name of a node that pulls, from its request. Empty if the client is not a node, or has no proof where nodes have a
// secret. Pure.
enum class Proof : bool { not_needed, needed };
std::string_view puller_of(const session::ClientRequest& request, const session::StreamPlan& plan, Proof proof);

}  // namespace live::service::cluster
