// /api/v1/clusters: the origins of this node, as an edge, and its pulls from them. With `stream`, as edges and players of the
// family's old origin clusters request it, the origin of that stream. A node of a cluster lists the nodes and streams of the
// registry too. /api/v1/cluster/where: the node that has a stream.
#pragma once

#include "api/common/rows.hpp"
#include "api/common/server_info.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/relay/relay_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// A pull for the API: of /api/v1/clusters and of a stream.
inline Row pull_row(const service::relay::PullFacts& pull, TimePoint now) {
    using std::chrono::milliseconds;
    return {{"url", pull.origin},
            {"state", service::relay::PullFacts::name_of(pull.state)},
            {"since_ms", (now - pull.since) / milliseconds(1)},
            {"tries", pull.tries},
            {"last_error", pull.last_error},
            {"rtt_ms", std::chrono::duration<double, std::milli>(pull.rtt).count()}};
}

// This server as an origin of a cluster: its streams and addresses.
class ClusterFacts {
public:
    struct Reach {
        std::string rtmp_ip;  // empty when it listens on every address
        std::uint16_t rtmp_port = 0;
        std::uint16_t http_port = 0;  // of live streams and files; 0: none
    };
    virtual ~ClusterFacts() = default;
    // nullopt unless a client publishes the stream here; a pull does not count.
    virtual std::optional<Reach> find(const std::string& vhost, const std::string& app, const std::string& stream) const = 0;
};

class ClustersHandler final : public session::http::Handler {
public:
    // The limit for the registry's list of streams.
    static constexpr std::chrono::milliseconds kListLimit{200};

    ClustersHandler(const ServerInfo& server, const service::relay::RelayService& relay, const ClusterFacts& facts,
                    service::cluster::ClusterService& node)
        : server_(server), relay_(relay), facts_(facts), node_(node) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    session::http::Reply find_stream(const session::http::Request& request) const;

    const ServerInfo& server_;
    const service::relay::RelayService& relay_;
    const ClusterFacts& facts_;
    service::cluster::ClusterService& node_;
};

class ClusterWhereHandler final : public session::http::Handler {
public:
    ClusterWhereHandler(const ServerInfo& server, service::cluster::ClusterService& node) : server_(server), node_(node) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    service::cluster::ClusterService& node_;
};

}  // namespace live::api
