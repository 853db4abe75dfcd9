#include "app/parts/relays.hpp"

#include "api/streams/forwards_handler.hpp"
#include "app/parts/ports.hpp"
#include "app/wiring/heartbeat_facts.hpp"
#include "app/wiring/http_wiring.hpp"
#include "base/net/host_and_port.hpp"
#include "base/version.hpp"

namespace live::app {

namespace {

// The first endpoint of a block's `listen`.
std::optional<Endpoint> first_endpoint(const std::vector<std::string>& listen) {
    const auto endpoints = listen.empty() ? Result<std::vector<Endpoint>>(std::vector<Endpoint>()) : parse_endpoint(listen[0]);
    return endpoints.ok() && !endpoints->empty() ? std::optional(endpoints->front()) : std::nullopt;
}

std::uint16_t port_of(const std::vector<std::string>& listen) {
    const auto endpoint = first_endpoint(listen);
    return endpoint ? endpoint->port : std::uint16_t{0};
}

}  // namespace

Relays::Relays(const Shared& shared, const Log& log)
    : shared_(shared),
      cluster_options_(shared.settings, &settings::Vhost::cluster),
      backend_origins_(shared.calls.http(), listed_origins_, shared.names.server_id, log.with_id("EIG")),
      node_(cluster_context(), shared.cluster_events, log.with_id("CLU")),
      registry_origins_(node_, backend_origins_),
      origins_(shared.workers, registry_origins_),
      pulls_(pull_context(), origins_, log.with_id("EIG")),
      redirector_(node_, pulls_),
      drain_(shared.clients.table(), shared.streams.table(), node_, redirector_, log),
      origin_peers_(shared.calls.http(), shared.streams.table(), log.with_id("EIG")),
      token_check_(pull_context(), origins_, log.with_id("EIG")),
      forward_options_(shared.settings, &settings::Vhost::forward),
      forwards_(shared.streams.table(), forward_options_, forward_context(), log) {}

Relays::~Relays() = default;

std::string Relays::node_id() const {
    const std::string& configured = shared_.settings->cluster.node_id;
    return configured.empty() ? shared_.names.server_id : configured;
}

service::rtmp_client::DialContext Relays::dial_context() {
    return {shared_.calls.tls(), [&ports = shared_.ports] { return ports.rtmp().endpoints(); }, shared_.clients.scratch(),
            [&workers = shared_.workers](std::uint16_t number) -> Result<std::unique_ptr<io::Stream>> {
                auto stream = TRY(workers.connect(static_cast<engine::workers::Worker>(number), engine::workers::Purpose::media));
                return std::unique_ptr<io::Stream>(std::move(stream));
            }};
}

service::relay::PullContext Relays::pull_context() {
    const bool is_worker = shared_.names.identity().is_worker();
    return {dial_context(),
            shared_.streams.table(),
            shared_.stream_events,
            shared_.clients.table(),
            cluster_options_,
            {shared_.names.server_id, std::string(kSignature), std::string(kVersion), shared_.names.process_id,
             shared_.settings->cluster.registry.empty() ? std::string() : node_id()},
            [&workers = shared_.workers, is_worker] { return workers.is_on() && !is_worker; },
            &shared_.clients.places().memory(),
            [&ports = shared_.ports]() -> session::srt::Dialler& { return ports.srt().dialler(); },
            &shared_.calls.tracer()};
}

service::cluster::ClusterContext Relays::cluster_context() {
    return {shared_.settings->cluster,
            node_id(),
            shared_.streams.table(),
            shared_.calls.tls(),
            shared_.clients.scratch(),
            [this] { return describe_node(); },
            [this] { return session::traffic_of(shared_.protocols).sent_bytes + shared_.streams.fan_out().counters().bytes; },
            [this](const std::string& vhost) { return shared_.admission.routing().is_of_cluster(vhost); }};
}

service::forward::ForwardContext Relays::forward_context() {
    service::forward::ForwardContext context;
    context.dial = dial_context();
    context.srt = [&ports = shared_.ports]() -> session::srt::Dialler& { return ports.srt().dialler(); };
    context.report_interval = shared_.settings->pithy_print;
    return context;
}

engine::cluster::NodeRecord Relays::describe_node() const {
    const settings::Settings& settings = *shared_.settings;
    engine::cluster::NodeRecord node;
    const auto place = parse_host(settings.cluster.advertise);
    node.host = place.ok() ? place->host : device_ip(settings.stats.network);
    if (node.host.empty())
        node.host = "127.0.0.1";
    node.rtmp_port = place.ok() && place->port ? *place->port : port_of(settings.listen);
    node.http_port = settings.http_server.enabled ? port_of(settings.http_server.listen) : std::uint16_t{0};
    node.api_port = settings.http_api.enabled ? port_of(settings.http_api.listen) : std::uint16_t{0};
    node.region = settings.cluster.region;
    node.version = std::string(kVersion);
    return node;
}

std::optional<Relays::Reach> Relays::find(const std::string& vhost, const std::string& app, const std::string& stream) const {
    const auto serving = shared_.admission.vhosts().rules_of(vhost);
    if (!serving.ok())
        return std::nullopt;
    const std::string url = service::admission::stream_url(serving->name, app, stream);
    const auto source = shared_.streams.table().find(url);
    if (!source || !source->is_published() || pulls_.find(url))
        return std::nullopt;
    const settings::Settings& settings = *shared_.settings;
    const auto rtmp = first_endpoint(settings.listen);
    if (!rtmp)
        return std::nullopt;
    const std::uint16_t http_port = settings.http_server.enabled ? port_of(settings.http_server.listen) : std::uint16_t{0};
    return Reach{rtmp->ip == "0.0.0.0" ? "" : rtmp->ip, rtmp->port, http_port};
}

void Relays::add_services(service::ServiceList& services) {
    services.add(node_);
    services.add(pulls_);
    services.add(forwards_);
}

void Relays::add_routes(HttpWiring& http) {
    api::Endpoints& endpoints = http.endpoints();
    endpoints.add<api::ClustersHandler>("/api/v1/clusters", endpoints.server(), pulls_, *this, node_);
    endpoints.add<api::ClusterWhereHandler>("/api/v1/cluster/where", endpoints.server(), node_);
    endpoints.add<api::ForwardsHandler>("/api/v1/forwards", endpoints.server(), forwards_);
}

}  // namespace live::app
