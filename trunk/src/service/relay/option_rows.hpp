// The rows of service/relay/options.hpp.
#pragma once

#include "base/config/row.hpp"
#include "base/time.hpp"
#include "service/relay/options.hpp"

namespace live::service::relay {

inline constexpr std::array kClusterModeNames = {
    config::Named<ClusterMode>{"local", ClusterMode::local},
    config::Named<ClusterMode>{"remote", ClusterMode::remote},
};
inline constexpr std::array kPullProtocolNames = {
    config::Named<PullProtocol>{"rtmp", PullProtocol::rtmp},
    config::Named<PullProtocol>{"flv", PullProtocol::flv},
    config::Named<PullProtocol>{"flvs", PullProtocol::flvs},
};

inline constexpr auto kClusterRows = config::Rows{
    config::row(&ClusterOptions::mode, "mode", kClusterModeNames, config::Reload::restart,
                "local is an origin; remote is an edge, which pulls the streams that its players request."),
    config::row(&ClusterOptions::origin, "origin", config::Reload::next_session,
                "Origins of an edge: host, host:port, rtmp://..., rtmps://..., http://..., https://... or srt://... "
                "(doc/manual/srt.md), or dns:name[:port] for all addresses of a name.")
        .example("127.0.0.1:19350"),
    config::row(&ClusterOptions::token_traverse, "token_traverse", config::Reload::next_session,
                "On an edge: a client is admitted only after an origin has accepted a connection with the client's own data "
                "(RTMP connect; HTTP-FLV players: GET, if an origin is HTTP). SRT origins are skipped."),
    config::row(&ClusterOptions::backend, "backend", config::Reload::next_session,
                "The URL of a service that returns the origins of a stream, instead of the list.")
        .example("http://127.0.0.1:8085/api/v1/origins"),
    config::row(&ClusterOptions::secret, "secret", config::Reload::next_session,
                "The same on edges and origins: an origin skips its callbacks for the connection of an edge that has it.")
        .secret(),
    config::row(&ClusterOptions::vhost, "vhost", config::Reload::next_session,
                "The virtual host at the origin; [vhost] is the edge's own."),
    config::row(&ClusterOptions::debug_srs_upnode, "debug_srs_upnode", config::Reload::next_session,
                "Adds diagnostic arguments to the connect upstream."),
    config::row(
        &ClusterOptions::protocol, "protocol", kPullProtocolNames, config::Reload::next_session,
        "How an edge pulls from origins that are written without rtmp:// or http://: rtmp, flv (HTTP-FLV) or flvs (HTTPS)."),
    config::row(&ClusterOptions::follow_client, "follow_client", config::Reload::next_session,
                "Pulls with the protocol of the first player, if that is RTMP or an HTTP live stream."),
    config::row(&ClusterOptions::origin_cluster, "origin_cluster", config::Reload::next_session,
                "On an origin: a player of a stream that is not published here is redirected to the coworker that has it."),
    config::row(&ClusterOptions::coworkers, "coworkers", config::Reload::next_session,
                "The other origins of an origin_cluster: host:port of their HTTP API, or a URL of it, http://... or https://...")
        .example("127.0.0.1:9091"),
    config::row(&ClusterOptions::linger, "linger", 0s, 600s, config::Reload::live,
                "Seconds that an edge keeps pulling a stream after its last reader left."),
    config::row(&ClusterOptions::first_frame_timeout, "first_frame_timeout", 1s, 120s, config::Reload::live,
                "Seconds after which a player is refused because no origin has sent the stream."),
    config::row(&ClusterOptions::publish_retry, "publish_retry", 0s, 600s, config::Reload::live,
                "Seconds that a publisher on an edge is kept while no origin accepts its stream."),
    config::row(
        &ClusterOptions::mw_latency, "mw_latency", 0ms, 60'000ms, config::Reload::next_session,
        "Merged write, in milliseconds, for edges that pull from here, if the value of play is longer. Packets after a pause of "
        "that length are sent at once. 0: each packet is sent at once. 0 is the default with min_latency on."),
};

}  // namespace live::service::relay
