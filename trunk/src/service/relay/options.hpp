// Options of an edge, per virtual host.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/config/option_check.hpp"
#include "base/time.hpp"

namespace live::service::relay {

enum class ClusterMode : std::uint8_t { local, remote };
enum class PullProtocol : std::uint8_t { rtmp, flv, flvs };

struct ClusterOptions {
    ClusterMode mode = ClusterMode::local;
    // See parse_origin().
    std::vector<std::string> origin;
    // A service that returns the origins of a stream, instead of the list. Not in other servers.
    std::string backend;
    // A secret by which the servers of one operator recognise each other; empty: off. Not in other servers.
    std::string secret;
    bool token_traverse = false;
    std::string vhost = "[vhost]";
    bool debug_srs_upnode = true;
    PullProtocol protocol = PullProtocol::rtmp;
    bool follow_client = false;
    // Derived from other settings: this server is a node of a cluster, whose registry locates streams, or one of several workers.
    bool by_registry = false;
    bool origin_cluster = false;
    std::vector<std::string> coworkers;
    // How long a pull continues after its last reader has left.
    std::chrono::milliseconds linger = 10s;
    // A player is refused when no origin has sent a frame within this time.
    std::chrono::milliseconds first_frame_timeout = 10s;
    // On the node that is pulled from: the merged write to other nodes. The loader sets 0 for a virtual host with min_latency on
    // that does not set it. Not in other servers.
    std::chrono::milliseconds mw_latency = 50ms;
    // How long a publisher is kept while no origin accepts its stream.
    std::chrono::milliseconds publish_retry = 10s;
};

// Reports whether this server may have to pull the streams of the virtual host.
inline bool may_pull(const ClusterOptions& options) { return options.mode == ClusterMode::remote || options.by_registry; }

// An edge without an origin refuses every player. One origin that cannot be used does not stop the others.
config::Findings check_cluster_options(const ClusterOptions& options, const config::CheckContext& around);
inline constexpr config::OptionCheck<ClusterOptions> kClusterCheck{check_cluster_options};

}  // namespace live::service::relay
