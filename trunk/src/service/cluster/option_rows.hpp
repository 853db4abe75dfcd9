// The rows of service/cluster/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/cluster/options.hpp"

namespace live::service::cluster {

inline constexpr auto kRegistryRows = config::Rows{
    config::row(&RegistryOptions::registry, "registry", config::Reload::restart,
                "The store in which the nodes of a cluster find each other's streams, Valkey or Redis: "
                "redis://[user:password@]host[:port][/db], rediss://... over TLS, or redis+sentinel://host[:port],.../master.")
        .example("redis://127.0.0.1:6379")
        .secret(),
    config::row(&RegistryOptions::node_id, "node_id", config::Reload::restart,
                "The name of this node: letters, digits, '.', '_' and '-', different on each node. Default: the server's id.")
        .example("node-1"),
    config::row(
        &RegistryOptions::advertise, "advertise", config::Reload::restart,
        "The address of this node for other nodes: host or host:port, the RTMP port. Default: the first address of this machine.")
        .example("10.0.0.1"),
    config::row(&RegistryOptions::region, "region", config::Reload::restart,
                "The region of this node: players are redirected to nodes of the same region first.")
        .example("eu-west"),
    config::row(&RegistryOptions::beat, "beat", 1s, 60s, config::Reload::restart, "Seconds between two heartbeats."),
    config::row(&RegistryOptions::lease, "lease", 3s, 600s, config::Reload::restart,
                "Seconds after the last heartbeat until other nodes may take the node's streams. At least twice the beat."),
    config::row(&RegistryOptions::secret, "secret", config::Reload::restart,
                "The same on all nodes: they sign their records in the registry with it and ignore unsigned ones. "
                "It is the cluster.secret of every virtual host without one.")
        .secret(),
    config::row(&RegistryOptions::redirect, "redirect", config::Reload::restart,
                "Redirects RTMP, HTTP-FLV, HLS, DASH and WHEP players to the best node instead of pulling each stream: players "
                "of streams that "
                "this node does not have, and all players while it is busy. Of two random nodes, the best is the one that uses "
                "less of its "
                "capacity. Players must reach the nodes at their `advertise`d addresses. Players over TLS and WebSocket are not "
                "redirected."),
    config::row(&RegistryOptions::publishers, "publishers", config::Reload::restart,
                "Off on an edge: it refuses publishers, and draining nodes send no publishers to it."),
    config::row(&RegistryOptions::capacity, "capacity", 0, std::uint64_t{1} << 50, config::Reload::restart,
                "Bytes per second that this node can send, for the choice among nodes and for millrace_cluster_capacity_used. 0: "
                "unknown; such a node is never full."),
    config::row(
        &RegistryOptions::drain_limit, "drain_limit", 0s, 3600s, config::Reload::restart,
        "Seconds that POST /api/v1/drain and SIGQUIT give the clients of a node to continue at other nodes, before the graceful "
        "stop and its grace_final_wait."),
};

}  // namespace live::service::cluster
