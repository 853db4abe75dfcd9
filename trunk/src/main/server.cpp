#include "main/server.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <utility>

#include "base/endpoint.hpp"
#include "base/log_format.hpp"
#include "base/version.hpp"
#include "io/loop.hpp"
#include "io/openssl_memory.hpp"
#include "main/allocator.hpp"
#include "main/listening.hpp"
#include "main/log_file.hpp"
#include "main/memory_trimmer.hpp"
#include "main/process_usage.hpp"
#include "main/server_id.hpp"

namespace live::main_ {

namespace {

constexpr std::size_t kScratchBytes = 128 * 1024;
// A stream object is kept this long after its last publisher and player left.
constexpr std::chrono::seconds kStreamIdle{3};
// How long an ingest that is not wanted any more may take to end.
constexpr std::chrono::seconds kChildrenLimit{5};
// For libraries to be loaded from the disk.
constexpr std::chrono::seconds kLibrariesLimit{5};
// How long clients wait for recordings that a killed process has left.
constexpr std::chrono::seconds kLeftLimit{5};
// More than a write and a close may take.
constexpr std::chrono::seconds kRecordingsLimit{45};

void log_long_holds(const Log& log) {
    const io::LoopWatch::Holds holds = io::Loop::watch().take_holds();
    if (holds.count > 0)
        LOG_WARN(log, "the loop was held {} times without a pause, longest {} ms by fiber {} of {}", holds.count,
                 holds.longest / 1ms, holds.fiber, holds.scope.empty() ? "the process" : holds.scope);
}

}  // namespace

// Hands what happens to streams on to the services that live from it.
class Server::Events final : public session::StreamEvents {
public:
    explicit Events(Server& server) : server_(server) {}

    void on_published(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        const auto vhost = server_.admission_.serving_vhost(request.vhost);
        if (!vhost.ok())
            return;
        if ((*vhost)->forward.enabled)
            server_.forward_->on_published(request, plan, (*vhost)->forward);
        server_.dvr_.on_published(request, plan, (*vhost)->dvr);
        server_.dash_.on_published(request, plan, (*vhost)->dash);
        server_.hls_.on_published(request, plan, (*vhost)->hls, server_.settings_->utc_time ? Zone::utc : Zone::local);
    }
    void on_publish_ended(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        server_.admission_.tell_stream(service::hooks::Action::on_unpublish, request, plan);
    }
    void on_unpublished(const std::string& url) override {
        server_.forward_->on_unpublished(url);
        server_.dvr_.on_unpublished(url);
        server_.hls_.on_unpublished(url);
        server_.dash_.on_unpublished(url);
    }
    void on_play_ended(const session::ClientRequest& request, const session::StreamPlan& plan) override {
        server_.admission_.tell_stream(service::hooks::Action::on_stop, request, plan);
    }
    void on_closed(const session::ClientRequest& request, const session::Traffic& traffic) override {
        server_.admission_.tell_closed(request, traffic);
    }

private:
    Server& server_;
};

class Server::Counters final : public api::ServerCounters {
public:
    explicit Counters(const Server& server) : server_(server) {}

    Totals totals() const override {
        const session::Traffic http = server_.http_.traffic();
        const session::Traffic casters = server_.casters_.traffic();
        const session::Traffic rtc = server_.rtc_.traffic();
        return {server_.traffic_.received_bytes + http.received_bytes + casters.received_bytes + rtc.received_bytes,
                server_.traffic_.sent_bytes + http.sent_bytes + casters.sent_bytes + rtc.sent_bytes +
                    server_.fan_out_.counters().bytes,
                server_.places_.used(), server_.log_.counters(), server_.access_log_.counters().lost};
    }

private:
    const Server& server_;
};

class Server::Vhosts final : public api::VhostSettings {
public:
    explicit Vhosts(const Server& server) : server_(server) {}

    Shown find(const std::string& name) const override {
        const Vhost* vhost = server_.settings_->find_vhost(name);
        if (vhost == nullptr || vhost->name != name)
            return {};
        const auto fragment = vhost->hls.enabled ? std::optional(vhost->hls.fragment) : std::nullopt;
        return {vhost->enabled, fragment};
    }

private:
    const Server& server_;
};

class Server::Raw final : public api::RawControl {
public:
    explicit Raw(const Server& server) : server_(server) {}

    Settings settings() const override {
        const HttpApiOptions& api = server_.settings_->http_api;
        return {api.enabled,
                fmt::format("{}", fmt::join(api.listen, " ")),
                api.crossdomain,
                api.raw_api.enabled,
                api.raw_api.allow_reload,
                false,
                false};
    }
    // The same way as an operator's: one after the other, in the process's own fiber.
    void request_reload() override { std::raise(SIGHUP); }
    Reload last_reload() const override { return server_.last_reload_; }

private:
    const Server& server_;
};

class Server::Ready final : public api::Readiness {
public:
    explicit Ready(const Server& server) : server_(server) {}
    bool is_ready() const override { return server_.takes_clients_; }

private:
    const Server& server_;
};

Server::Server(Private, Settings settings, ServerNames names, std::size_t connections_max, const Log& log)
    : log_(log),
      names_(std::move(names)),
      settings_(std::make_unique<const Settings>(std::move(settings))),
      admission_(*settings_),
      streams_(slabs_),
      fan_out_(services_, settings_->io_uring ? io::FanSender::Use::io_uring : io::FanSender::Use::plain_sends),
      access_log_(settings_->access_log, rotation_of(settings_->log), admission_, log),
      places_(connections_max, log, settings_->limits),
      scratch_(kScratchBytes),
      events_(std::make_unique<Events>(*this)),
      counters_(std::make_unique<Counters>(*this)),
      vhosts_(std::make_unique<Vhosts>(*this)),
      rtmp_{streams_,
            admission_,
            admission_,
            *events_,
            fan_out_,
            clients_,
            traffic_,
            scratch_,
            std::string(kVersion),
            std::string(kSignature),
            names_.process_id},
      mounts_(*settings_, streams_),
      flv_{streams_, mounts_, admission_, *events_, fan_out_, clients_},
      flv_player_(flv_),
      casters_(flv_, scratch_, places_, log),
      rtc_(*settings_, {streams_, admission_, *events_, clients_, places_, scratch_}, log),
      rtmps_certificate_("RTMPS", log),
      ingest_(log),
      files_(*settings_),
      open_recordings_(open_recordings_path(settings_->pid)),
      dvr_(streams_, recording_context(), log),
      hls_settings_(*settings_),
      viewers_(admission_, *events_, clients_, places_),
      hls_(streams_, viewers_, hls_settings_, claims_, log),
      hls_player_(hls_.index(), hls_settings_, files_, viewers_),
      dash_(streams_, claims_, log),
      dash_player_(dash_.held(), files_, viewers_),
      raw_(std::make_unique<Raw>(*this)),
      ready_(std::make_unique<Ready>(*this)),
      allocator_(make_allocator_figures(settings_->tcmalloc_release_rate, log)),
      shown_{names_,           *counters_,          board_,  *vhosts_, files_, *raw_,
             allocator_.get(), fan_out_.counters(), *ready_, memory_,  rtc_,   transcoders_},
      http_(shown_, settings_->stats.disk, scratch_, places_, log),
      stream_list_settings_(*settings_, hls_.index(), dash_player_) {
    set_limits(connections_max);
    admission_.set_memory(places_.memory());
    streams_.set_conversion(&transcoders_, log_.with_id("BRG"));
}

Server::~Server() = default;

void Server::set_limits(std::size_t connections_max) {
    places_.set_limits(connections_max, settings_->limits);
    const std::size_t wanted = std::size_t{settings_->limits.memory_budget} << 20;
    places_.memory().set_max(wanted > 0 ? wanted : usual_memory_budget());
    LOG_INFO(log_, "{} connections, and {} MiB of memory", connections_max, places_.memory().max() >> 20);
}

Result<std::unique_ptr<Server>> Server::create(Settings settings, ServerNames names, std::size_t connections_max,
                                               const Log& log) {
    auto server = std::make_unique<Server>(Private{}, std::move(settings), std::move(names), connections_max, log);
    const auto started = server->start();
    if (!started.ok()) {
        server->stop_sessions(io::Deadline::after(std::chrono::seconds(1)));
        return Error(started.error());
    }
    return server;
}

Result<void> Server::load_client_tls() {
    const TlsClientOptions& options = settings_->tls_client;
    auto tls = io::TlsContext::client(options.verify ? io::TlsVerify::peer : io::TlsVerify::none, options.ca_file);
    // Without TLS, which is the system's OpenSSL, what needs none works all the same.
    if (!tls.ok() && tls.code() != Errc::system)
        return Error(tls.error());
    if (!tls.ok())
        LOG_ERROR(log_, "callbacks and forwards over TLS fail: {}", tls.error().sentence());
    else
        client_tls_ = *std::move(tls);
    if (!options.verify)
        LOG_WARN(log_, "tls_client.verify is off: callbacks and forwards over TLS go to whoever answers at the address");
    return {};
}

Result<void> Server::start_callbacks() {
    http_client_ =
        std::make_unique<service::http_client::HttpClient>(fmt::format("{}/{}", kProduct, kVersion), scratch_, client_tls_.get());
    service::hooks::ServerIdentity identity{names_.server_id, names_.service_id};
    hooks_ = std::make_unique<service::hooks::HookService>(*http_client_, std::move(identity), board_, log_);
    admission_.set_hooks(*hooks_);
    hls_settings_.set_hooks(*hooks_, std::filesystem::current_path().string());
    heartbeat_ = std::make_unique<service::heartbeat::Heartbeat>(*http_client_, beats_, log_);
    return services_.start("heartbeat", [this](io::Deadline forever) { heartbeat_->run(forever); });
}

Result<void> Server::start() {
    LOG_INFO(log_, "players are sent to {}", fan_out_.uses_io_uring() ? "in batches through io_uring" : "one by one");
    TRY(load_client_tls());
    TRY(start_callbacks());
    clients_.add_watcher(board_);
    access_log_.open();
    clients_.add_watcher(access_log_);
    TRY(services_.start("stream-board", [this](io::Deadline forever) { board_.run(forever); }));
    TRY(transcoders_.start(services_));
    prepare_conversion(*settings_, io::Deadline::after(kLibrariesLimit));
    finish_left_recordings(io::Deadline::after(kLeftLimit));
    TRY(listen_rtmp(*settings_));
    // First: a mount of HTTP-TS may have the form of a fragment's name.
    http_.add_streams(hls_player_);
    http_.add_streams(dash_player_);
    http_.add_streams(flv_player_);
    http_.add_api(api::DvrsHandler::kPath, dvrs_api_);
    http_.add_api(api::SnapshotHandler::kPath, snapshot_api_);
    http_.add_page(api::StreamListHandler::kPath, stream_list_);
    TRY(rtc_.start(http_));
    TRY(http_.listen(*settings_));
    TRY(casters_.listen(*settings_));
    start_forwarding();
    apply_ingests();
    TRY(services_.start("hls-sessions", [this](io::Deadline forever) { hls_.run(forever); }));
    TRY(services_.start("memory-keeper", [this](io::Deadline forever) { memory_keeper_.run(forever); }));
    TRY(services_.start("housekeeping", [this](io::Deadline forever) { run_housekeeping(forever); }));
    TRY(services_.start("certificates", [this](io::Deadline forever) { watch_certificates(forever); }));
    takes_clients_ = true;
    return {};
}

// Opens what is not open yet.
Result<std::vector<std::unique_ptr<io::TcpListener>>> Server::open_new(const std::vector<std::string>& texts, const char* label) {
    std::vector<std::unique_ptr<io::TcpListener>> opened;
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(texts))) {
        const auto is_open = [&wanted](const auto& acceptor) {
            return acceptor->listener().is_open() && acceptor->listener().endpoint() == wanted.endpoint;
        };
        if (std::ranges::any_of(acceptors_, is_open))
            continue;
        if (auto listener = TRY(listen_at(wanted, label, log_)))
            opened.push_back(std::move(listener));
    }
    return opened;
}

void Server::start_acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, const char* label) {
    LOG_INFO(log_, "{} listen at tcp://{}, fd={}", label, listener->endpoint().text(), listener->native_handle());
    acceptors_.push_back(std::make_unique<session::rtmp::Acceptor>(std::move(listener), tls, rtmp_, places_, connections_, log_));
    auto* acceptor = acceptors_.back().get();
    MUST(listeners_.start("rtmp-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); }));
}

Result<void> Server::listen_rtmp(const Settings& settings) {
    auto plain = TRY(open_new(settings.listen, "RTMP"));
    std::vector<std::unique_ptr<io::TcpListener>> secure;
    if (settings.rtmps.enabled) {
        secure = TRY(open_new(settings.rtmps.listen, "RTMPS"));
        TRY(rtmps_certificate_.use(settings.rtmps.tls));
    }
    for (auto& listener : plain)
        start_acceptor(std::move(listener), nullptr, "RTMP");
    for (auto& listener : secure)
        start_acceptor(std::move(listener), rtmps_certificate_.context(), "RTMPS");
    return {};
}

// Closes the listeners that the new settings do not name any more. Their connections go on.
void Server::close_missing(const Settings& settings) {
    std::vector<Endpoint> wanted;
    const auto add = [&wanted](const std::vector<std::string>& texts) {
        for (const std::string& text : texts)
            std::ranges::move(MUST(parse_endpoint(text)), std::back_inserter(wanted));
    };
    add(settings.listen);
    if (settings.rtmps.enabled)
        add(settings.rtmps.listen);
    for (const auto& acceptor : acceptors_) {
        if (!acceptor->listener().is_open() || std::ranges::find(wanted, acceptor->listener().endpoint()) != wanted.end())
            continue;
        LOG_INFO(log_, "close listener at {}", acceptor->listener().endpoint().text());
        acceptor->close();
    }
}

Result<void> Server::reload(Settings settings, std::size_t connections_max) {
    TRY(listen_rtmp(settings));
    close_missing(settings);
    prepare_conversion(settings, io::Deadline::after(kLibrariesLimit));
    auto next = std::make_unique<const Settings>(std::move(settings));
    admission_.set_settings(*next);
    mounts_.set_settings(*next);
    files_.set_settings(*next);
    hls_settings_.set_settings(*next);
    rtc_.set_settings(*next);
    stream_list_settings_.set_settings(*next);
    settings_ = std::move(next);
    set_limits(connections_max);
    kick_lost_clients();
    http_.apply(*settings_);
    apply_ingests();
    heartbeat_->settings_changed();
    return {};
}

// Where a virtual host wants it, the libraries are loaded before a stream needs them.
void Server::prepare_conversion(const Settings& settings, io::Deadline deadline) {
    const auto wants = [](const Vhost& vhost) { return vhost.play.bridge.rtmp_to_rtc || vhost.play.bridge.rtc_to_rtmp; };
    if (std::ranges::none_of(settings.vhosts, wants))
        return;
    if (const auto loaded = transcoders_.load(deadline); !loaded.ok())
        LOG_WARN(log_, "sound cannot be converted between RTMP and WebRTC: {}", loaded.error().sentence());
}

void Server::start_forwarding() {
    service::forward::ForwardContext context;
    context.tls = client_tls_.get();
    for (const auto& acceptor : acceptors_)
        context.own_endpoints.push_back(acceptor->listener().endpoint());
    context.scratch = scratch_;
    context.report_interval = settings_->pithy_print;
    forward_ = std::make_unique<service::forward::ForwardService>(streams_, std::move(context), log_);
}

service::dvr::DvrContext Server::recording_context() {
    service::dvr::DvrContext context;
    context.open = &open_recordings_;
    context.claims = &claims_;
    context.product = fmt::format("{}/{}", kProduct, kVersion);
    context.zone = settings_->utc_time ? Zone::utc : Zone::local;
    context.on_recorded = [this](const service::dvr::Recorded& recorded) {
        admission_.tell_recording(recorded.request, recorded.plan, recorded.file, recorded.error);
    };
    return context;
}

// Before anybody publishes the same stream into the same file again; what takes longer goes on beside them.
void Server::finish_left_recordings(io::Deadline deadline) {
    // Its owners are this call and the fiber.
    const auto done = std::make_shared<Signal>();
    const auto started = services_.start("dvr-left", [this, done](io::Deadline forever) {
        dvr_.finish_left(forever);
        done->raise();
    });
    if (started.ok())
        static_cast<void>(io::wait(*done, deadline));
}

void Server::apply_ingests() {
    std::vector<service::ingest::IngestSet> wanted;
    for (const Vhost& vhost : settings_->vhosts) {
        if (!vhost.enabled || vhost.ingests.empty())
            continue;
        service::ingest::IngestPlace place;
        place.vhost = vhost.name;
        place.rtmp_port = acceptors_.empty() ? place.rtmp_port : acceptors_.front()->listener().endpoint().port;
        place.log_level = settings_->ff_log_level;
        place.log_dir = settings_->ff_log_dir;
        wanted.push_back({std::move(place), vhost.ingests});
    }
    if (const auto applied = ingest_.apply(std::move(wanted), io::Deadline::after(kChildrenLimit)); !applied.ok())
        LOG_ERROR(log_, "ingest: {}", applied.error().text());
}

// Clients of a virtual host that has been removed or switched off go; the others get what a source may change while it lives.
void Server::kick_lost_clients() {
    clients_.for_each([this](session::ClientEntry& client) {
        const session::ClientRequest& request = client.client().request();
        if (request.vhost.empty())
            return;
        const auto vhost = admission_.serving_vhost(request.vhost);
        if (!vhost.ok()) {
            client.kick(vhost.error().sentence());
            return;
        }
        const auto source = streams_.find(stream_url(**vhost, request.app, request.stream));
        if (source) {
            source->set_options((*vhost)->play);
            source->set_chunk_size((*vhost)->rtmp.chunk_size);
        }
    });
}

void Server::run_housekeeping(io::Deadline deadline) {
    ProcessUsage usage;
    TrimClock trim_clock;
    constexpr int kUsageEvery = 5;  // rounds of a second
    for (int round = 1;; ++round) {
        if (!io::sleep(deadline.sooner(io::Deadline::after(std::chrono::seconds(1)))).ok())
            return;
        const auto expired = streams_.expire(io::now(), kStreamIdle);
        for (const std::string& url : expired)
            LOG_INFO(log_, "Live: cleanup die source, id=[{}], total={}", url, streams_.size());
        dash_.reap();
        access_log_.report();
        if (trim_clock.is_due(io::now(), io::openssl_bytes() + places_.bytes() + places_.memory().used())) {
            slabs_.release();
            io::Loop::release_stacks();
            give_memory_back();
        }
        if (round % kUsageEvery != 0)
            continue;
        log_long_holds(log_);
        const auto sample = usage.sample(io::now());
        const auto& sent = fan_out_.counters();
        LOG_INFO(log_, "Hybrid cpu={:.2f}%,{}MB, clients={}, streams={}, fanout sends={}, bytes={}, handed back={}",
                 sample.cpu_percent, sample.resident_bytes >> 20, places_.used(), streams_.size(), sent.sends, sent.bytes,
                 sent.handed_back);
    }
}

void Server::watch_certificates(io::Deadline deadline) {
    while (io::sleep(deadline.sooner(io::Deadline::after(ServedCertificate::kLookEvery))).ok()) {
        rtmps_certificate_.look(deadline);
        http_.look_at_certificates(deadline);
    }
}

void Server::close_listeners(io::Deadline deadline) {
    takes_clients_ = false;
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    http_.close_streams();
    if (const auto stopped = listeners_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping the listeners: {}", stopped.error().text());
}

void Server::stop_children(io::Deadline deadline) {
    if (const auto stopped = ingest_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping the ingests: {}", stopped.error().text());
}

void Server::ask_publishers_to_leave() {
    clients_.for_each([](session::ClientEntry& client) {
        if (client.plan() != nullptr && is_publisher(client.client().request().kind))
            client.ask_to_leave("the server is about to stop");
    });
}

void Server::stop_sessions(io::Deadline deadline) {
    close_listeners(deadline);
    stop_children(deadline);
    if (forward_) {
        if (const auto stopped = forward_->stop(deadline); !stopped.ok())
            LOG_WARN(log_, "stopping the forwards: {}", stopped.error().text());
    }
    http_.stop(deadline);
    casters_.stop(deadline);
    rtc_.stop(deadline);
    if (const auto stopped = connections_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping the connections: {}", stopped.error().text());
    // Behind the publishers. A recording without its end is worth little, so a slow disk gets its time.
    if (const auto stopped = dvr_.stop(io::Deadline::after(kRecordingsLimit)); !stopped.ok())
        LOG_WARN(log_, "stopping the recordings: {}", stopped.error().text());
    // Behind the publishers, whose last fragment it makes.
    if (const auto stopped = hls_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping HLS: {}", stopped.error().text());
    if (const auto stopped = dash_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping DASH: {}", stopped.error().text());
    access_log_.report();
    // After the clients, whose end is told.
    if (hooks_) {
        if (const auto stopped = hooks_->stop(deadline); !stopped.ok())
            LOG_WARN(log_, "stopping the callbacks: {}", stopped.error().text());
    }
    if (const auto stopped = services_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping the services: {}", stopped.error().text());
}

}  // namespace live::main_
