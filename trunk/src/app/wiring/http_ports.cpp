#include "app/wiring/http_ports.hpp"

#include <algorithm>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "engine/http2/server.hpp"
#include "session/http/connection.hpp"

namespace live::app {

namespace {

using Role = HttpPorts::Role;

constexpr std::size_t kRoles = 5;
constexpr std::array kClientRoles = {Role::api, Role::streams, Role::both, Role::exporter};
constexpr std::array kPageRoles = {Role::api, Role::streams, Role::both};

}  // namespace

HttpPorts::Site::Site(MutBytes scratch)
    : context{.router = router, .scratch = scratch, .server = std::string(kSignature), .auth = {}, .limits = {}} {}

HttpPorts::HttpPorts(const settings::CurrentSettings& settings, api::Endpoints& endpoints, MutBytes scratch,
                     session::ConnectionLimits& places, io::PortSharing sharing, const std::string& secret, const Log& log)
    : settings_(settings), endpoints_(endpoints), log_(log), places_(places), sharing_(sharing), certificates_(secret, log) {
    for (std::size_t role = 0; role < kRoles; ++role)
        sites_.push_back(std::make_unique<Site>(scratch));
    site(Role::workers).context.is_sibling = true;
    endpoints.mount(router(Role::api), api::Ports::api);
    endpoints.mount(router(Role::streams), api::Ports::streams);
    endpoints.mount(router(Role::both), api::Ports::api | api::Ports::streams);
    endpoints.mount(router(Role::exporter), api::Ports::exporter);
    endpoints.mount(router(Role::workers), api::Ports::workers);
}

std::string HttpPorts::label_of(const Place& place) {
    const std::string protocol = place.tls == nullptr ? "HTTP" : "HTTPS";
    switch (place.role) {
        case Role::api: return protocol + "-API";
        case Role::streams: return protocol + "-Server";
        case Role::both: return protocol + "-API and Server";
        case Role::exporter:
        case Role::workers: break;
    }
    return "Exporter-Server";
}

session::ConnectionLimits::Kind HttpPorts::kind_of(Role role) {
    using enum session::ConnectionLimits::Kind;
    switch (role) {
        case Role::api:
        case Role::exporter: return control;
        case Role::both: return either;
        case Role::streams:
        case Role::workers: break;
    }
    return client;
}

// The role of an endpoint that two blocks name; the exporter adds its own paths to either.
HttpPorts::Role HttpPorts::joined(Role first, Role second) {
    if (first == second || second == Role::exporter)
        return first;
    return first == Role::exporter ? second : Role::both;
}

// An endpoint that is already listed gets the other role too.
Result<void> HttpPorts::add_places(std::vector<Place>& places, const std::vector<std::string>& texts, Role role,
                                   io::TlsContext* tls) {
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(texts, sharing_))) {
        const auto known = std::ranges::find(places, wanted.endpoint,
                                             [](const Place& place) -> const Endpoint& { return place.wanted.endpoint; });
        if (known == places.end()) {
            places.push_back({wanted, role, tls, role == Role::exporter});
            continue;
        }
        known->role = joined(known->role, role);
        known->has_metrics = known->has_metrics || role == Role::exporter;
    }
    return {};
}

Result<std::vector<HttpPorts::Place>> HttpPorts::wanted_places() {
    const settings::HttpApiOptions& api = settings_->http_api;
    const settings::HttpServerOptions& server = settings_->http_server;
    std::vector<Place> places;
    if (api.enabled)
        TRY(add_places(places, api.listen, Role::api, nullptr));
    if (server.enabled)
        TRY(add_places(places, server.listen, Role::streams, nullptr));
    if (server.enabled && server.https.enabled)
        TRY(add_places(places, server.https.listen, Role::streams, certificates_.streams()));
    if (api.enabled && api.https.enabled)
        TRY(add_places(places, api.https.listen, Role::api, certificates_.api()));
    if (settings_->exporter.enabled)
        TRY(add_places(places, settings_->exporter.listen, Role::exporter, nullptr));
    return places;
}

Result<bool> HttpPorts::share(const Endpoint& endpoint, session::http::ProtocolSniffer& other) {
    const auto places = TRY(wanted_places());
    if (std::ranges::none_of(places, [&](const Place& place) { return place.wanted.endpoint == endpoint; }))
        return false;
    shared_.emplace_back(endpoint, &other);
    return true;
}

Result<void> HttpPorts::start(io::Scope& fibers) {
    TRY(certificates_.load(*settings_));
    TRY(certificates_.watch(fibers));
    set_options();
    offer_protocols();
    const auto places = TRY(wanted_places());
    for (const Role role : kPageRoles)
        for (const Place& place : places)
            if (place.role != Role::exporter)
                site(role).context.page_ports.push_back(place.wanted.endpoint.port);
    for (const Place& place : places) {
        if (place.has_metrics && place.role != Role::exporter)
            endpoints_.mount(router(place.role), api::Ports::exporter);
        TRY(open(place, settings_->http_api.auth.enabled));
    }
    return {};
}

Result<void> HttpPorts::open(const Place& place, bool is_guarded) {
    const std::string label = label_of(place);
    const Endpoint& endpoint = place.wanted.endpoint;
    auto listener = TRY(listen_at(place.wanted, label, log_));
    if (!listener)
        return {};
    LOG_INFO(log_, "{} listen at tcp://{}, fd={}", label, endpoint.text(), listener->native_handle());
    const bool has_api = place.role == Role::api || place.role == Role::both;
    if (has_api && !endpoint.is_loopback() && !is_guarded)
        LOG_WARN(log_, "the HTTP API at {} requires no authentication: set http_api.auth or listen on 127.0.0.1",
                 endpoint.text());
    acceptors_.push_back(std::make_unique<session::http::Acceptor>(std::move(listener), place.tls, site(place.role).context,
                                                                   places_, kind_of(place.role), connections_, log_));
    auto* acceptor = acceptors_.back().get();
    acceptor->serve_http2_with(http2_);
    for (const auto& [shared, other] : shared_)
        if (shared == endpoint)
            acceptor->share_with(*other);
    if (place.role == Role::streams)
        stream_acceptors_.push_back(acceptor);
    return listeners_.start("http-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); });
}

void HttpPorts::serve_worker(std::unique_ptr<io::TcpStream> stream) {
    // A std::function is copied, so the stream has two owners until the fiber takes it.
    const auto held = std::make_shared<std::unique_ptr<io::TcpStream>>(std::move(stream));
    const auto started = connections_.start("worker", [this, held](io::Deadline forever) {
        const Log log = log_.with_id(random_id());
        io::TcpStream* const tcp = held->get();
        std::make_unique<session::http::Connection>(std::move(*held), tcp, "127.0.0.1", site(Role::workers).context, places_, log)
            ->run(forever);
    });
    if (!started.ok())
        LOG_WARN(log_, "connection of another worker: not served: {}", started.error().text());
}

// The connection that a client has keeps its protocol.
void HttpPorts::offer_protocols() {
    constexpr std::array<std::string_view, 2> kBoth{"h2", "http/1.1"};
    const auto offer = [&](io::TlsContext* context, bool has_http2) {
        if (context != nullptr)
            context->offer_protocols(std::span(kBoth).subspan(has_http2 && engine::http2::is_available() ? 0 : 1));
    };
    offer(certificates_.streams(), settings_->http_server.https.http2);
    offer(certificates_.api(), settings_->http_api.https.http2);
}

void HttpPorts::set_options() {
    const settings::Settings& settings = *settings_;
    const auto& auth = settings.http_api.auth;
    // Basic and Bearer authentication, as far as the settings enable them.
    const bool takes_password = auth.takes_password();
    for (const Role role : kClientRoles) {
        session::http::Context& context = site(role).context;
        context.auth = {auth.enabled,
                        takes_password ? auth.username : "",
                        takes_password ? auth.password : "",
                        auth.takes_token() ? auth.token : "",
                        auth.takes_token() && auth.rtc_bearer_enabled,
                        role == Role::api || role == Role::both,
                        auth.takes_users(settings)};
        context.guard = guard_;
        context.allows_cross_origin = settings.http_server.crossdomain;
    }
    session::http::Context& api = site(Role::api).context;
    api.allows_cross_origin = settings.http_api.crossdomain && settings.http_server.crossdomain;
    for (const Role role : kPageRoles)
        site(role).context.allows_jsonp = settings.http_api.jsonp && site(role).context.allows_cross_origin;
}

void HttpPorts::apply() {
    set_options();
    if (const auto loaded = certificates_.load(*settings_); !loaded.ok())
        LOG_ERROR(log_, "HTTPS keeps its current certificate: {}", loaded.error().sentence());
    offer_protocols();
}

void HttpPorts::close() {
    for (auto* acceptor : stream_acceptors_)
        acceptor->close();
    for (const Role role : kClientRoles)
        site(role).context.idle.end();
}

void HttpPorts::hand_over() {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    close();
}

Result<void> HttpPorts::stop(io::Deadline deadline) { return io::stop_all({&listeners_, &connections_}, deadline); }

session::Traffic HttpPorts::traffic() const {
    session::Traffic sum;
    for (const Role role : kClientRoles) {
        const session::Traffic& traffic = sites_[static_cast<std::size_t>(role)]->context.traffic;
        sum.received_bytes += traffic.received_bytes;
        sum.sent_bytes += traffic.sent_bytes;
    }
    return sum;
}

session::http::Http2Counters HttpPorts::http2_counters() const {
    session::http::Http2Counters sum;
    for (const Role role : kClientRoles)
        sum.add(sites_[static_cast<std::size_t>(role)]->context.http2);
    return sum;
}

}  // namespace live::app
