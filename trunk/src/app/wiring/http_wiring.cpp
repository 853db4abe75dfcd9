#include "app/wiring/http_wiring.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "app/wiring/features.hpp"
#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "build_info.hpp"
#include "io/fibers/loop.hpp"
#include "io/process/leak_check.hpp"
#include "io/tls/self_signed.hpp"
#include "session/http/connection.hpp"
#include "settings/conf/tools.hpp"

namespace live::app {

namespace {

std::string command_line_of_process() {
    std::ifstream file("/proc/self/cmdline");
    std::string words;
    std::getline(file, words);
    for (char& letter : words)
        if (letter == '\0')
            letter = ' ';
    while (!words.empty() && words.back() == ' ')
        words.pop_back();
    return words;
}

api::ServerInfo info_of(const ServerNames& names) {
    api::ServerInfo info;
    info.server_id = names.server_id;
    info.service_id = names.service_id;
    info.process_id = names.process_id;
    info.parent_id = ::getppid();
    info.command_line = command_line_of_process();
    char folder[4096];
    info.working_folder = ::getcwd(folder, sizeof folder) == nullptr ? "" : folder;
    info.started = io::now();
    info.user_options = build_info::kUserOptions;
    info.options = build_info::kOptions;
    info.build_date = build_info::kDate;
    info.build_machine = build_info::kUname;
    info.license = kLicense;
    info.contributors = "CONTRIBUTING.md and the history of the source tree";
    info.features = features_of(settings::describe_settings());
    return info;
}

}  // namespace

std::string HttpWiring::label_of(const Place& place) {
    const std::string protocol = place.tls == nullptr ? "HTTP" : "HTTPS";
    switch (place.role) {
        case Role::api: return protocol + "-API";
        case Role::streams: return protocol + "-Server";
        case Role::both: return protocol + "-API and Server";
        case Role::exporter: break;
    }
    return "Exporter-Server";
}

HttpWiring::Site::Site(MutBytes scratch)
    : context{.router = router, .scratch = scratch, .server = std::string(kSignature), .auth = {}, .limits = {}} {}

HttpWiring::HttpWiring(const settings::CurrentSettings& settings, const Sources& sources, MutBytes scratch,
                       session::Places& places, const Log& log)
    : settings_(settings),
      log_(log),
      places_(places),
      seat_(sources.names.seat()),
      info_(info_of(sources.names)),
      sampler_(sources.counters, settings->stats.disk),
      api_(info_, sampler_),
      stats_api_(info_, sources.stream_stats, sources.vhosts, &sources.relay, &sources.forwards),
      info_api_(info_),
      system_api_(info_, sampler_),
      metrics_api_({info_, sampler_, sources.counters, sources.stream_stats, sources.fan_out, sources.rtc, places,
                    sources.transcoders, &sources.relay, &sources.node, &sources.srt, &sources.forwards},
                   sources.readiness),
      raw_(info_, sources.raw),
      memory_(info_, sources.memory),
      fibers_(info_),
      files_(sources.files),
      api_site_(scratch),
      stream_site_(scratch),
      shared_site_(scratch),
      exporter_site_(scratch),
      worker_site_(scratch),
      api_certificate_("HTTPS API", log),
      stream_certificate_("HTTPS server", log) {
    if (sources.allocator != nullptr)
        allocator_.emplace(info_, *sources.allocator);
    if (io::can_check_leaks())
        valgrind_.emplace(info_, log_, io::check_leaks);
    api_.mount_root(api_site_.router);
    for (Site* site : {&api_site_, &shared_site_, &worker_site_}) {
        api_.mount(site->router);
        stats_api_.mount(site->router);
        info_api_.mount(site->router);
        system_api_.mount(site->router);
        metrics_api_.mount(site->router);
        raw_.mount(site->router);
        memory_.mount(site->router);
        fibers_.mount(site->router);
        profile_.mount(site->router);
        if (allocator_)
            allocator_->mount(site->router);
        if (valgrind_)
            valgrind_->mount(site->router);
        faults_.mount(site->router);
        site->router.add("/console/", files_);
    }
    metrics_api_.mount(exporter_site_.router);
    worker_site_.context.is_sibling = true;
    if (sources.workers.is_on()) {
        whole_.emplace(info_, sources.workers, api::WholeHandler::Scope::all);
        whole_sessions_.emplace(info_, sources.workers, api::WholeHandler::Scope::sessions);
        whole_metrics_.emplace(info_, sources.workers, api::WholeHandler::Scope::metrics);
        for (Site* site : {&api_site_, &shared_site_})
            site->router.set_front(*whole_);
        exporter_site_.router.set_front(*whole_metrics_);
        stream_site_.router.set_front(*whole_sessions_);
    }
    api_.mount_versions(stream_site_.router);
    // After the streams.
    for (Site* site : {&stream_site_, &shared_site_})
        site->router.add("/", files_);
}

HttpWiring::~HttpWiring() = default;

void HttpWiring::add_streams(session::http::Handler& handler) {
    stream_site_.router.add_fallback(handler);
    shared_site_.router.add_fallback(handler);
}

void HttpWiring::add_files(session::http::Handler& handler) {
    add_streams(handler);
    worker_site_.router.add_fallback(handler);
}

void HttpWiring::add_for_workers(const std::string& pattern, session::http::Handler& handler) {
    worker_site_.router.add(pattern, handler);
}

void HttpWiring::add_api(const std::string& pattern, session::http::Handler& handler) {
    api_site_.router.add(pattern, handler);
    worker_site_.router.add(pattern, handler);
    shared_site_.router.add(pattern, handler);
}

void HttpWiring::add_page(const std::string& pattern, session::http::Handler& handler) {
    stream_site_.router.add(pattern, handler);
    shared_site_.router.add(pattern, handler);
}

void HttpWiring::add_everywhere(const std::string& pattern, session::http::Handler& handler) {
    add_api(pattern, handler);
    stream_site_.router.add(pattern, handler);
}

HttpWiring::Site& HttpWiring::site(Role role) {
    switch (role) {
        case Role::api: return api_site_;
        case Role::streams: return stream_site_;
        case Role::both: return shared_site_;
        case Role::exporter: return exporter_site_;
    }
    return exporter_site_;
}

session::Places::Kind HttpWiring::kind_of(Role role) {
    using enum session::Places::Kind;
    switch (role) {
        case Role::api:
        case Role::exporter: return control;
        case Role::both: return either;
        case Role::streams: break;
    }
    return client;
}

HttpWiring::Role HttpWiring::joined(Role first, Role second) {
    if (first == second || second == Role::exporter)
        return first;
    return first == Role::exporter ? second : Role::both;
}

// An endpoint that is already listed gets the other role too.
Result<void> HttpWiring::add_places(std::vector<Place>& places, const std::vector<std::string>& texts, Role role,
                                    io::TlsContext* tls) {
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(texts, sharing_of(seat_)))) {
        const auto known = std::ranges::find(places, wanted.endpoint,
                                             [](const Place& place) -> const Endpoint& { return place.wanted.endpoint; });
        if (known == places.end())
            places.push_back({wanted, role, tls});
        else
            known->role = joined(known->role, role);
        if (role == Role::exporter && known != places.end())
            metrics_api_.mount(site(known->role).router);
    }
    return {};
}

Result<std::vector<HttpWiring::Place>> HttpWiring::wanted_places() {
    const settings::HttpApiOptions& api = settings_->http_api;
    const settings::HttpServerOptions& server = settings_->http_server;
    std::vector<Place> places;
    if (api.enabled)
        TRY(add_places(places, api.listen, Role::api, nullptr));
    if (server.enabled)
        TRY(add_places(places, server.listen, Role::streams, nullptr));
    if (server.enabled && server.https.enabled)
        TRY(add_places(places, server.https.listen, Role::streams, stream_certificate_.context()));
    if (api.enabled && api.https.enabled)
        TRY(add_places(places, api.https.listen, Role::api, api_certificate_.context()));
    if (settings_->exporter.enabled)
        TRY(add_places(places, settings_->exporter.listen, Role::exporter, nullptr));
    return places;
}

Result<bool> HttpWiring::share(const Endpoint& endpoint, session::http::OtherProtocol& other) {
    const auto places = TRY(wanted_places());
    if (std::ranges::none_of(places, [&](const Place& place) { return place.wanted.endpoint == endpoint; }))
        return false;
    shared_.emplace_back(endpoint, &other);
    return true;
}

// The pair named in the settings. If they name none, and none exists at the default path, a self-signed one.
Result<settings::TlsFiles> HttpWiring::usable(const settings::TlsFiles& files) const {
    const HttpsFiles chosen = https_files(files);
    if (!chosen.is_our_own)
        return files;
    const settings::TlsFiles& own = chosen.tls;
    if (chosen.is_to_be_made) {
        std::error_code ignored;
        std::filesystem::create_directories("./objs", ignored);
        TRY(io::make_self_signed(own.cert, own.key));
        LOG_WARN(log_, "there is no certificate at {}: made a self-signed one, {}", files.cert, own.cert);
    }
    LOG_INFO(log_, "HTTPS certificate {}, SHA-256 fingerprint {}", own.cert, TRY(io::certificate_fingerprint(own.cert)));
    return own;
}

Result<void> HttpWiring::load_certificates() {
    const auto load = [this](ServedCertificate& certificate, bool enabled, const settings::TlsFiles& named) -> Result<void> {
        if (!enabled)
            return {};
        return certificate.use(TRY(usable(named)));
    };
    const settings::HttpApiOptions& api = settings_->http_api;
    const settings::HttpServerOptions& server = settings_->http_server;
    TRY(load(api_certificate_, api.enabled && api.https.enabled, api.https.tls));
    return load(stream_certificate_, server.enabled && server.https.enabled, server.https.tls);
}

Result<void> HttpWiring::start(io::Scope& fibers, io::Deadline) {
    if (settings_->stats.enabled)
        TRY(services_.start("system-sampler", [this](io::Deadline forever) { sampler_.run(forever); }));
    if (valgrind_)
        TRY(services_.start("leak-check", [this](io::Deadline forever) { valgrind_->run(forever); }));
    TRY(load_certificates());
    for (ServedCertificate* certificate : {&api_certificate_, &stream_certificate_})
        TRY(fibers.start("certificates", [certificate](io::Deadline forever) { certificate->watch(forever); }));
    set_options();
    metrics_api_.set_settings({settings_->exporter.enabled, settings_->exporter.label, settings_->exporter.tag});
    const auto places = TRY(wanted_places());
    for (Site* site : {&api_site_, &stream_site_, &shared_site_})
        for (const Place& place : places)
            if (place.role != Role::exporter)
                site->context.page_ports.push_back(place.wanted.endpoint.port);
    for (const Place& place : places)
        TRY(open(place, settings_->http_api.auth.enabled));
    return {};
}

Result<void> HttpWiring::open(const Place& place, bool is_guarded) {
    const std::string label = label_of(place);
    const Endpoint& endpoint = place.wanted.endpoint;
    auto listener = TRY(listen_at(place.wanted, label, log_));
    if (!listener)
        return {};
    LOG_INFO(log_, "{} listen at tcp://{}, fd={}", label, endpoint.text(), listener->native_handle());
    const bool has_api = place.role == Role::api || place.role == Role::both;
    if (has_api && !endpoint.is_loopback() && !is_guarded)
        LOG_WARN(log_, "the HTTP API is open to everybody who reaches {}: set http_api.auth or listen on 127.0.0.1",
                 endpoint.text());
    acceptors_.push_back(std::make_unique<session::http::Acceptor>(std::move(listener), place.tls, site(place.role).context,
                                                                   places_, kind_of(place.role), connections_, log_));
    auto* acceptor = acceptors_.back().get();
    for (const auto& [shared, other] : shared_)
        if (shared == endpoint)
            acceptor->share_with(*other);
    if (place.role == Role::streams)
        stream_acceptors_.push_back(acceptor);
    return listeners_.start("http-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); });
}

void HttpWiring::serve_worker(std::unique_ptr<io::TcpStream> stream) {
    // A std::function is copied, so the stream has two owners until the fiber takes it.
    const auto held = std::make_shared<std::unique_ptr<io::TcpStream>>(std::move(stream));
    const auto started = connections_.start("worker", [this, held](io::Deadline forever) {
        const Log log = log_.with_id(random_id());
        io::TcpStream* const tcp = held->get();
        std::make_unique<session::http::Connection>(std::move(*held), tcp, "127.0.0.1", worker_site_.context, places_, log)
            ->run(forever);
    });
    if (!started.ok())
        LOG_WARN(log_, "another worker is not answered: {}", started.error().text());
}

void HttpWiring::set_options() {
    const settings::Settings& settings = *settings_;
    const auto& auth = settings.http_api.auth;
    // Basic and Bearer authentication, as far as the settings enable them.
    const bool takes_password = auth.takes_password();
    for (Site* site : {&api_site_, &stream_site_, &shared_site_, &exporter_site_}) {
        site->context.auth = {auth.enabled,
                              takes_password ? auth.username : "",
                              takes_password ? auth.password : "",
                              auth.takes_token() ? auth.token : "",
                              auth.takes_token() && auth.rtc_bearer_enabled,
                              site == &api_site_ || site == &shared_site_};
        site->context.allows_cross_origin = settings.http_server.crossdomain;
    }
    api_site_.context.allows_cross_origin = settings.http_api.crossdomain && settings.http_server.crossdomain;
    for (Site* site : {&api_site_, &stream_site_, &shared_site_})
        site->context.allows_jsonp = settings.http_api.jsonp && site->context.allows_cross_origin;
}

void HttpWiring::apply(io::Deadline) {
    set_options();
    if (const auto loaded = load_certificates(); !loaded.ok())
        LOG_ERROR(log_, "HTTPS keeps the certificate it has: {}", loaded.error().sentence());
}

Result<void> HttpWiring::close(io::Deadline) {
    for (auto* acceptor : stream_acceptors_)
        acceptor->close();
    for (Site* site : {&api_site_, &stream_site_, &shared_site_, &exporter_site_})
        site->context.idle.end();
    return {};
}

Result<void> HttpWiring::hand_over(io::Deadline deadline) {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    return close(deadline);
}

Result<void> HttpWiring::stop(io::Deadline deadline) { return io::stop_all({&listeners_, &connections_, &services_}, deadline); }

session::Traffic HttpWiring::traffic() const {
    session::Traffic sum;
    for (const Site* site : {&api_site_, &stream_site_, &shared_site_, &exporter_site_}) {
        sum.received_bytes += site->context.traffic.received_bytes;
        sum.sent_bytes += site->context.traffic.sent_bytes;
    }
    return sum;
}

}  // namespace live::app
