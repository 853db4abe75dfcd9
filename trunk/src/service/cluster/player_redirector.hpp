// PlayerRedirector: with `redirect on`, sends players to the node of the cluster that serves them best, and its clients to other
// nodes while this node drains. The choice is engine/cluster/placement.hpp; this knows which clients can be sent, and sees to it
// that none is sent in a circle. Nodes that pull a stream of this one are sent on by engine/cluster/puller_tree.hpp.
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
    // All outlive this.
    PlayerRedirector(ClusterService& node, const relay::RelayService& relay) : cluster_(node), relay_(relay) {}

    // For a player at admission. None: it stays. Waits as ClusterService::find() does. Errc::cancelled.
    Result<std::optional<session::Redirect>> find(const session::ClientRequest& request, const std::string& url,
                                                  io::Deadline deadline);
    // For a player that is served here already, at its next request: only while this node drains. Does not suspend.
    std::optional<session::Redirect> send_on(const session::ClientRequest& request);
    // For a WHIP publisher that this node does not take; the other protocols have no redirect. Does not suspend.
    std::optional<session::Redirect> other_for_publisher(const session::ClientRequest& request) const;
    // For a client that is served here, while this node drains and another node takes it: where to go on by itself. Without
    // `redirect` its place is empty: where the client has found this node, it finds another one. Does not suspend.
    std::optional<session::Redirect> move(const session::ClientRequest& request) const;

    // For an admitted node that pulls a stream: the one to pull it from instead. None: this one, until on_play_ended(). Does not
    // suspend.
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

// Whether the client's protocol has a redirect that clients obey, and which port of a node it needs. Clients over TLS and
// WebSocket are never sent: the other node's name is not in a certificate, and scripts cannot follow. Pure.
std::optional<std::uint16_t engine::cluster::NodeRecord::*> port_for(const session::ClientRequest& request);

// The name of the node that pulls, as it says; empty: the client is none, or where nodes have a secret, one that has not proved
// that it has it. Pure.
enum class Proof : bool { not_needed, needed };
std::string_view puller_of(const session::ClientRequest& request, const session::StreamPlan& plan, Proof proof);

}  // namespace live::service::cluster
