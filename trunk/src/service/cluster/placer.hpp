// Placer: sends players to the node of the cluster that serves them best, with `redirect on` and while this node drains. The
// choice is engine/cluster/placement.hpp; this knows which players can be sent, and sees to it that none is sent in a circle.
#pragma once

#include <optional>
#include <string>

#include "engine/cluster/placement.hpp"
#include "io/deadline.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/relay/relay_service.hpp"
#include "session/common/admission.hpp"

namespace live::service::cluster {

class Placer {
public:
    // All outlive this.
    Placer(ClusterService& node, const relay::RelayService& relay) : node_(node), relay_(relay) {}

    // For a player at admission. None: it stays. Waits as ClusterService::find() does. Errc::cancelled.
    Result<std::optional<session::Redirect>> find(const session::ClientRequest& request, const std::string& url,
                                                  io::Deadline deadline);
    // For a player that is served here already: only while this node drains. Does not suspend.
    std::optional<session::Redirect> send_on(const session::ClientRequest& request);
    // For an RTMP publisher while this node drains; none over TLS. Does not suspend.
    std::optional<session::Redirect> other_for_publisher(const session::ClientRequest& request) const;

private:
    std::optional<session::Redirect> choose(const session::ClientRequest& request, bool has_stream,
                                            const engine::cluster::NodeRecord* owner);

    ClusterService& node_;
    const relay::RelayService& relay_;
};

// Whether the player's protocol has a redirect that players obey, and which port of a node it needs. Players over TLS and
// WebSocket are never sent: the other node's name is not in a certificate, and scripts cannot follow. Pure.
std::optional<std::uint16_t engine::cluster::NodeRecord::*> port_for(const session::ClientRequest& request);

}  // namespace live::service::cluster
