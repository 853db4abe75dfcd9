// The rows of service/cluster/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "service/cluster/options.hpp"

namespace live::service::cluster {

inline constexpr auto kRegistryRows = std::tuple{
    config::row(&RegistryOptions::registry, "registry", config::Reload::restart,
                "The store in which the nodes of a cluster find each other's streams, Valkey or Redis: "
                "redis://[user:password@]host[:port][/db], rediss://... over TLS, or redis+sentinel://host[:port],.../master.")
        .example("redis://127.0.0.1:6379")
        .secret(),
    config::row(
        &RegistryOptions::node_id, "node_id", config::Reload::restart,
        "The name of this node: letters, digits, '.', '_' and '-', different on each node. The server's id when it is not "
        "said.")
        .example("node-1"),
    config::row(
        &RegistryOptions::advertise, "advertise", config::Reload::restart,
        "Where other nodes reach this one: host or host:port, the port of RTMP. The first address of this machine when it is "
        "not said.")
        .example("10.0.0.1"),
    config::row(&RegistryOptions::region, "region", config::Reload::restart, "The region of this node, for operators.")
        .example("eu-west"),
    config::row(&RegistryOptions::beat, "beat", 1s, 60s, config::Reload::restart, "Seconds between two signs of life."),
    config::row(&RegistryOptions::lease, "lease", 3s, 600s, config::Reload::restart,
                "Seconds after the last one until the node's streams are anybody's. At least twice the beat."),
    config::row(&RegistryOptions::secret, "secret", config::Reload::restart,
                "The same on all nodes: they know each other by it, and sign what they write into the registry; what is not "
                "signed is not believed. "
                "The cluster.secret of every virtual host that has none.")
        .secret(),
};

}  // namespace live::service::cluster
