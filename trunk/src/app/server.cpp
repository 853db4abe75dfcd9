#include "app/server.hpp"

#include <algorithm>
#include <csignal>
#include <initializer_list>
#include <utility>

#include "app/memory/allocator.hpp"
#include "app/start/log_file.hpp"
#include "app/start/server_id.hpp"
#include "base/log/log_format.hpp"
#include "base/net/host_and_port.hpp"
#include "base/version.hpp"

namespace live::app {

namespace {

// The trusted authorities when the server is a TLS client. nullptr without TLS, which needs the system's OpenSSL: everything else
// works without it.
Result<std::unique_ptr<io::TlsContext>> client_tls(const settings::TlsClientOptions& options, const Log& log) {
    if (!options.verify)
        LOG_WARN(log, "tls_client.verify is off: callbacks and forwards over TLS go to whoever answers at the address");
    auto tls = io::TlsContext::client(options.verify ? io::TlsVerify::peer : io::TlsVerify::none, options.ca_file);
    if (tls.ok() || tls.code() != Errc::system)
        return tls;
    LOG_ERROR(log, "callbacks and forwards over TLS fail: {}", tls.error().sentence());
    return std::unique_ptr<io::TlsContext>();
}

bool wants_conversion(const settings::Settings& settings) {
    return std::ranges::any_of(settings.vhosts, [](const settings::Vhost& vhost) {
        return vhost.play.bridge.rtmp_to_rtc || vhost.play.bridge.rtc_to_rtmp;
    });
}

}  // namespace

// Forwards stream events to the services that depend on them.
class Server::Events final : public session::StreamEvents {
public:
    explicit Events(Server& server) : server_(server) {}

    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        if (!request.is_sibling)
            return server_.services_.on_published(request, plan);
        server_.outputs_.on_sibling_published(request, plan);
    }
    void on_publish_ended(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        server_.admission_.callbacks().report_stream(service::hooks::Action::on_unpublish, request, plan);
    }
    void on_unpublished(const std::string& url) override { server_.services_.on_unpublished(url); }
    void on_play_ended(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        server_.redirector_.on_play_ended(request, plan.url);
        server_.admission_.callbacks().report_stream(service::hooks::Action::on_stop, request, plan);
    }
    void on_closed(const session::ClientRequest& request, const session::Traffic& traffic) override {
        server_.admission_.report_closed(request, traffic);
    }

private:
    Server& server_;
};

// What the cluster decides about streams of this node.
class Server::Moves final : public service::cluster::ClusterEvents {
public:
    explicit Moves(Server& server) : server_(server) {}

    void on_taken(const std::string& url) override { server_.relay_.hold_players(url); }
    void on_lost(const std::string& url, const std::string& why) override {
        server_.clients_.for_each([&](session::ClientEntry& client) {
            const bool publishes =
                client.plan() != nullptr && client.plan()->url == url && is_publisher(client.client().request().kind);
            if (publishes && client.client().request().kind != session::ClientKind::relay_pull)
                client.kick(why);
        });
    }
    void on_moved(const std::string& url) override { server_.relay_.look_again(url); }
    void on_elsewhere(const std::string& url) override {
        // "/app/stream" or "vhost/app/stream".
        const std::size_t app_at = std::min(url.find('/'), url.size());
        const std::size_t stream_at = std::max(std::min(url.rfind('/'), url.size()), app_at);
        session::ClientRequest request;
        request.kind = session::ClientKind::relay_pull;
        request.vhost = app_at == 0 ? std::string(settings::kDefaultVhost) : url.substr(0, app_at);
        request.app = stream_at > app_at ? url.substr(app_at + 1, stream_at - app_at - 1) : std::string();
        request.stream = url.substr(std::min(stream_at + 1, url.size()));
        const auto plan = server_.admission_.vhosts().plan_for(request);
        if (plan.ok() && plan->url == url)
            server_.relay_.adopt(request, *plan);
    }

private:
    Server& server_;
};

// tidy-long: the parts of the server and their connections, in order of construction
Server::Server(Private, settings::Settings settings, ServerNames names, std::size_t connections_max,
               std::unique_ptr<io::TlsContext> client_tls, const Log& log)
    : log_(log),
      names_(std::move(names)),
      settings_(std::move(settings)),
      client_tls_(std::move(client_tls)),
      transcoders_([this] { return wants_conversion(settings_.coming()); }, log),
      streams_(slabs_),
      services_(log),
      fan_out_(fibers_, settings_->io_uring ? io::FanSender::Use::io_uring : io::FanSender::Use::plain_sends),
      access_log_(settings_->access_log, names_.seat().is_worker() ? io::LineWriter::Rotation{} : rotation_of(settings_->log),
                  vhost_table_, log),
      places_(connections_max, log, settings_->limits),
      http_client_(fmt::format("{}/{}", kProduct, kVersion), scratch_, client_tls_.get()),
      hooks_(http_client_, {names_.server_id, names_.service_id}, stream_stats_, log),
      admission_({vhost_table_,
                  places_.memory(),
                  streams_,
                  hooks_,
                  token_check_,
                  {relay_, origin_peers_, node_, redirector_, workers_}}),
      events_(std::make_unique<Events>(*this)),
      rtmp_context_{streams_,
                    admission_,
                    admission_.vhosts(),
                    *events_,
                    fan_out_,
                    clients_,
                    traffic_,
                    scratch_,
                    std::string(kVersion),
                    std::string(kSignature),
                    names_.process_id},
      rtmp_(settings_, rtmp_context_, places_, names_.seat(), log),
      mounts_(settings_, streams_),
      http_live_{streams_, mounts_, admission_, *events_, fan_out_, clients_},
      http_live_player_(http_live_),
      casters_(settings_, http_live_, scratch_, places_, transports_, names_.seat(), log),
      forwarder_(
          workers_, names_.takes_over,
          [this](const session::ForwardedDatagram& forwarded, MutBytes datagram) {
              session::take_datagram(protocols_, forwarded, datagram);
          },
          log.with_id("WRK")),
      rtc_(settings_,
           {streams_, admission_, admission_.vhosts(), *events_, clients_, places_, scratch_, http_, names_.seat(), forwarder_,
            passed_offers_},
           log),
      srt_(settings_, {streams_, admission_, admission_.vhosts(), *events_, clients_, places_, forwarder_, transports_},
           names_.seat().is_first(), log),
      asked_origins_(http_client_, listed_origins_, names_.server_id, log.with_id("EIG")),
      moves_(std::make_unique<Moves>(*this)),
      node_(cluster_context(), *moves_, log.with_id("CLU")),
      workers_(worker_context(), *moves_, log.with_id("WRK")),
      origins_(node_, asked_origins_),
      all_origins_(workers_, origins_),
      relay_(pull_context(), all_origins_, log.with_id("EIG")),
      origin_peers_(http_client_, streams_, log.with_id("EIG")),
      token_check_(pull_context(), all_origins_, log.with_id("EIG")),
      forward_(streams_, forward_options_, forward_context(), log),
      ingest_(wanted_ingests_, &srt_.dialler(), log),
      outputs_({settings_, names_, admission_, *events_, streams_, clients_, places_, hooks_, workers_, other_files_}, log),
      allocator_(make_allocator_figures(settings_->tcmalloc_release_rate, log)),
      stream_list_settings_(settings_, outputs_.hls_index(), outputs_.dash_player()),
      http_(settings_, api_sources(), outputs_.files(), scratch_, places_, log),
      heartbeat_(http_client_, heartbeat_facts_, log) {
    set_limits(connections_max);
    if (names_.shared_limits() != nullptr)
        places_.share(*names_.shared_limits());
    stream_stats_.share_ids(names_.workers_secret);
    streams_.set_conversion(&transcoders_, log_.with_id("BRG"));
    streams_.set_deferred_encoder(deferred_encoder_);
    clients_.add_watcher(stream_stats_);
    clients_.add_watcher(access_log_);
    outputs_.add_to(http_);
    http_.add_streams(http_live_player_);
    list_services();
    protocols_ = services_.protocols();
}

// In dependency order. Ingests are clients of this server. Of several workers, one makes them and sends the heartbeat.
void Server::list_services() {
    const auto add = [this](std::initializer_list<service::Service*> services) {
        for (service::Service* service : services)
            services_.add(*service);
    };
    const bool is_first = names_.seat().is_first();
    add({&hooks_});
    if (is_first)
        add({&heartbeat_});
    add({&stream_stats_, &access_log_, &transcoders_, &node_, &workers_, &outputs_.homes(), &forwarder_, &relay_, &forward_});
    outputs_.add_to(services_);
    add({&memory_keeper_, &housekeeping_, &rtmp_, &rtc_, &srt_, &http_, &casters_});
    if (is_first)
        add({&ingest_});
}

ApiWiring::Sources Server::api_sources() {
    return {.names = names_,
            .counters = facts_,
            .stream_stats = stream_stats_,
            .vhosts = facts_,
            .raw = facts_,
            .allocator = allocator_.get(),
            .fan_out = fan_out_.counters(),
            .places = places_,
            .readiness = facts_,
            .memory = memory_,
            .protocols = protocols_,
            .srt_doctor = srt_doctor_,
            .transcoders = transcoders_,
            .services = services_,
            .relay = relay_,
            .forwards = forward_,
            .recordings = outputs_.recordings(),
            .snapshots = outputs_.snapshots(),
            .fetcher = stream_fetcher_,
            .node = node_,
            .cluster = facts_,
            .workers = workers_,
            .drain = facts_,
            .upgrade = *names_.upgrade,
            .stream_list = stream_list_settings_,
            .conf_warnings = facts_.conf_warnings()};
}

Server::~Server() = default;

void Server::set_limits(std::size_t connections_max) {
    places_.set_limits(connections_max, settings_->limits);
    const std::size_t wanted = std::size_t{settings_->limits.memory_budget} << 20;
    const std::size_t memory = wanted > 0 ? wanted : usual_memory_budget();
    places_.memory().set_max(memory, memory / std::max<std::size_t>(names_.seat().count, 1));
    LOG_INFO(log_, "{} connections, and {} MiB of memory", connections_max, memory >> 20);
}

Result<std::unique_ptr<Server>> Server::create(settings::Settings settings, ServerNames names, std::size_t connections_max,
                                               const Log& log) {
    auto tls = TRY(client_tls(settings.tls_client, log));
    auto server =
        std::make_unique<Server>(Private{}, std::move(settings), std::move(names), connections_max, std::move(tls), log);
    const auto started = server->start();
    if (!started.ok()) {
        server->stop(io::Deadline::after(std::chrono::seconds(1)));
        return Error(started.error());
    }
    return server;
}

Result<void> Server::start() {
    LOG_INFO(log_, "players are sent to {}", fan_out_.uses_io_uring() ? "in batches through io_uring" : "one by one");
    TRY(services_.start(fibers_, io::Deadline::never()));
    facts_.set_takes_clients(true);
    return {};
}

Result<void> Server::reload(settings::Settings settings, std::size_t connections_max) {
    const auto deadline = io::Deadline::never();  // each service has its own limits
    settings_.propose(std::move(settings));
    if (auto prepared = services_.prepare(deadline); !prepared.ok()) {
        settings_.take_back();
        return prepared;
    }
    settings_.replace();
    set_limits(connections_max);
    kick_lost_clients();
    services_.apply(deadline);
    return {};
}

service::rtmp_client::DialContext Server::dial_context() {
    return {client_tls_.get(), [this] { return rtmp_.endpoints(); }, scratch_,
            [this](std::uint16_t number) -> Result<std::unique_ptr<io::Stream>> {
                auto stream =
                    TRY(workers_.connect(static_cast<engine::workers::Worker>(number), engine::workers::Purpose::media));
                return std::unique_ptr<io::Stream>(std::move(stream));
            }};
}

std::optional<std::string> Server::url_on_workers(const session::ClientRequest& player) const {
    if (!admission_.routing().is_of_workers(player.vhost))
        return std::nullopt;
    const auto plan = admission_.vhosts().plan_for(player);
    return plan.ok() ? std::optional(plan->url) : std::nullopt;
}

service::workers::WorkerContext Server::worker_context() {
    return {names_.master,
            streams_,
            http_client_,
            [this](engine::workers::Purpose purpose, std::unique_ptr<io::TcpStream> stream) {
                if (purpose == engine::workers::Purpose::media)
                    rtmp_.serve_worker(std::move(stream));
                else
                    http_.ports().serve_worker(std::move(stream));
            },
            [] { std::raise(SIGTERM); },
            names_.upgrade_listener,
            [this](io::Socket socket) { forwarder_.serve(std::move(socket)); },
            [this](const std::vector<engine::workers::Worker>& others) { forwarder_.on_others(others); }};
}

service::relay::PullContext Server::pull_context() {
    return {dial_context(),
            streams_,
            *events_,
            clients_,
            cluster_options_,
            {names_.server_id, std::string(kSignature), std::string(kVersion), names_.process_id,
             settings_->cluster.registry.empty() ? std::string() : node_id()},
            [this] { return workers_.is_on() && !names_.seat().is_worker(); },
            &places_.memory(),
            &srt_.dialler()};
}

std::string Server::node_id() const { return settings_->cluster.node_id.empty() ? names_.server_id : settings_->cluster.node_id; }

service::cluster::ClusterContext Server::cluster_context() {
    return {settings_->cluster,
            node_id(),
            streams_,
            client_tls_.get(),
            scratch_,
            [this] { return describe_node(); },
            [this] { return facts_.totals().sent_bytes; },
            [this](const std::string& vhost) { return admission_.routing().is_of_cluster(vhost); }};
}

engine::cluster::NodeRecord Server::describe_node() const {
    const settings::Settings& settings = *settings_;
    const auto port_of = [](const std::vector<std::string>& listen) {
        const auto endpoints =
            listen.empty() ? Result<std::vector<Endpoint>>(std::vector<Endpoint>()) : parse_endpoint(listen[0]);
        return endpoints.ok() && !endpoints->empty() ? endpoints->front().port : std::uint16_t{0};
    };
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

service::forward::ForwardContext Server::forward_context() {
    service::forward::ForwardContext context;
    context.dial = dial_context();
    context.srt = &srt_.dialler();
    context.report_interval = settings_->pithy_print;
    return context;
}

// Kicks clients of virtual hosts that were removed or disabled; for the others, applies the options that a source may change at
// runtime.
void Server::kick_lost_clients() {
    clients_.for_each([this](session::ClientEntry& client) {
        const session::ClientRequest& request = client.client().request();
        if (request.vhost.empty())
            return;
        const auto vhost = admission_.vhosts().rules_of(request.vhost);
        if (!vhost.ok()) {
            client.kick(vhost.error().sentence());
            return;
        }
        const auto source = streams_.find(service::admission::stream_url(vhost->name, request.app, request.stream));
        if (source) {
            source->set_options(vhost->play);
            source->wire_logs().set_chunk_size(vhost->rtmp.chunk_size);
        }
    });
}

void Server::close(io::Deadline deadline) {
    facts_.set_takes_clients(false);
    services_.close(deadline);
}

void Server::hand_over(io::Deadline deadline) {
    facts_.set_takes_clients(false);
    services_.hand_over(deadline);
}

void Server::ask_publishers_to_leave() {
    clients_.for_each([](session::ClientEntry& client) {
        if (client.plan() != nullptr && is_publisher(client.client().request().kind))
            client.ask_to_leave("the server is about to stop");
    });
}

void Server::stop(io::Deadline deadline) {
    close(deadline);
    services_.stop(deadline);
    if (const auto stopped = fibers_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping the services: {}", stopped.error().text());
}

}  // namespace live::app
