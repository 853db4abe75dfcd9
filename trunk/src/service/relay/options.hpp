// Options of an edge, per virtual host.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace live::service::relay {

enum class ClusterMode : std::uint8_t { local, remote };
enum class PullProtocol : std::uint8_t { rtmp, flv, flvs };

struct ClusterOptions {
    ClusterMode mode = ClusterMode::local;
    // See parse_origin().
    std::vector<std::string> origin;
    // Ours: a service that names the origins of a stream, instead of the list.
    std::string backend;
    // Ours: what the servers of one operator know each other by; empty: nobody is known.
    std::string secret;
    bool token_traverse = false;
    std::string vhost = "[vhost]";
    bool debug_srs_upnode = true;
    PullProtocol protocol = PullProtocol::rtmp;
    bool follow_client = false;
    // Not said here but derived: this server is a node of a cluster, whose registry says where streams are, or one of several
    // workers.
    bool by_registry = false;
    bool origin_cluster = false;
    std::vector<std::string> coworkers;
    // How long a pull continues after its last reader has left.
    std::chrono::milliseconds linger = 10s;
    // A player is refused when no origin has sent a frame within this time.
    std::chrono::milliseconds first_frame_timeout = 10s;
    // Ours, on the node that is pulled from: merged write to other nodes, whose players have a window of their own. The loader
    // sets 0 for a virtual host that has min_latency on and does not set it.
    std::chrono::milliseconds mw_latency = 50ms;
    // How long a publisher is kept while no origin accepts its stream.
    std::chrono::milliseconds publish_retry = 10s;
};

// Whether this server may have to pull the streams of the virtual host.
inline bool may_pull(const ClusterOptions& options) { return options.mode == ClusterMode::remote || options.by_registry; }

}  // namespace live::service::relay
