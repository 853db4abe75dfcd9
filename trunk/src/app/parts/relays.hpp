// Relays: streams from and to other servers: the node of a cluster, the pulls of an edge, and forwards. Also the drain, which
// moves clients to those servers.
#pragma once

#include <optional>
#include <string>

#include "api/streams/clusters_handler.hpp"
#include "app/parts/client_core.hpp"
#include "app/parts/drain.hpp"
#include "app/parts/outgoing_calls.hpp"
#include "app/parts/part.hpp"
#include "app/parts/stream_core.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/cluster/cluster_service.hpp"
#include "service/cluster/player_redirector.hpp"
#include "service/cluster/registry_resolver.hpp"
#include "service/forward/forward_service.hpp"
#include "service/relay/origins/backend_resolver.hpp"
#include "service/relay/origins/origin_peers.hpp"
#include "service/relay/relay_service.hpp"
#include "service/relay/token_check.hpp"
#include "service/workers/workers_resolver.hpp"
#include "session/common/protocol.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Ports;

class Relays final : public Part, public api::ClusterFacts {
public:
    // All must outlive this. Admission, protocols and ports are used after the start only, so they may be completed later.
    struct Shared {
        const settings::CurrentSettings& settings;
        const ServerNames& names;
        StreamCore& streams;
        ClientCore& clients;
        OutgoingCalls& calls;
        session::StreamEvents& stream_events;
        service::cluster::ClusterEvents& cluster_events;
        service::workers::WorkerService& workers;
        const session::Protocols& protocols;
        const service::admission::AdmissionPolicies& admission;
        Ports& ports;
    };
    Relays(const Shared& shared, const Log& log);
    ~Relays();
    Relays(const Relays&) = delete;
    Relays& operator=(const Relays&) = delete;

    service::cluster::ClusterService& node() { return node_; }
    service::cluster::PlayerRedirector& redirector() { return redirector_; }
    service::relay::RelayService& pulls() { return pulls_; }
    service::relay::TokenCheck& token_check() { return token_check_; }
    service::forward::ForwardService& forwards() { return forwards_; }
    Drain& drain() { return drain_; }
    service::admission::Routes routes(service::workers::WorkerService& workers) {
        return {pulls_, origin_peers_, node_, redirector_, workers};
    }

    // api::ClusterFacts
    std::optional<Reach> find(const std::string& vhost, const std::string& app, const std::string& stream) const override;

    void add_services(service::ServiceList& services) override;
    void add_routes(HttpWiring& http) override;

private:
    std::string node_id() const;
    service::rtmp_client::DialContext dial_context();
    service::relay::PullContext pull_context();
    service::cluster::ClusterContext cluster_context();
    service::forward::ForwardContext forward_context();
    // This node as its cluster sees it.
    engine::cluster::NodeRecord describe_node() const;

    const Shared shared_;
    VhostOptions<service::relay::ClusterOptions> cluster_options_;
    service::relay::StaticResolver listed_origins_;
    service::relay::BackendResolver backend_origins_;
    service::cluster::ClusterService node_;
    service::cluster::RegistryResolver registry_origins_;
    service::workers::WorkersResolver origins_;  // the workers, then each of the above
    service::relay::RelayService pulls_;
    service::cluster::PlayerRedirector redirector_;
    Drain drain_;
    service::relay::OriginPeers origin_peers_;
    service::relay::TokenCheck token_check_;
    VhostOptions<service::forward::ForwardOptions> forward_options_;
    service::forward::ForwardService forwards_;
};

}  // namespace live::app
