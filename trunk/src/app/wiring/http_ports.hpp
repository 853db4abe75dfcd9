// HttpPorts: the listeners of http_api, http_server and exporter, and their connections. Each kind of port has one router. An
// endpoint that both the API and the streams name serves both. The exporter's router has only metrics and probes: a client that
// may read metrics may not control the server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/common/endpoints.hpp"
#include "app/wiring/http_certificates.hpp"
#include "app/wiring/listening.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "session/common/traffic.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"
#include "session/http2/connection.hpp"
#include "session/limits/connection_limits.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class HttpPorts {
public:
    // A kind of port, with its router.
    enum class Role : std::uint8_t { api, streams, both, exporter, workers };

    // Everything referred to outlives this. `secret` is the workers'.
    HttpPorts(const settings::CurrentSettings& settings, api::Endpoints& endpoints, MutBytes scratch,
              session::ConnectionLimits& places, io::PortSharing sharing, const std::string& secret, const Log& log);
    HttpPorts(const HttpPorts&) = delete;
    HttpPorts& operator=(const HttpPorts&) = delete;

    session::http::Router& router(Role role) { return site(role).router; }
    // Before start(): clients of another protocol are also served on this endpoint, if the settings name it. False if they do
    // not. `other` outlives the connections.
    Result<bool> share(const Endpoint& endpoint, session::http::ProtocolSniffer& other);
    // Before start(): identifies the callers of the API. It outlives the connections.
    void set_guard(session::http::ApiGuard& guard) { guard_ = &guard; }
    // Opens all endpoints of the settings. Errors as TcpListener::listen and TlsContext::server.
    Result<void> start(io::Scope& fibers);
    // Applies passwords, CORS and certificates. If a certificate cannot be loaded, the current one stays in use.
    void apply();
    // Serves a connection of another worker.
    void serve_worker(std::unique_ptr<io::TcpStream> stream);
    // Stops accepting stream clients and closes idle ones; the API continues, with one request per connection.
    void close();
    // Stops accepting all clients.
    void hand_over();
    Result<void> stop(io::Deadline deadline);
    // The sum of all HTTP clients' connections.
    session::Traffic traffic() const;
    const HttpCertificates& certificates() const { return certificates_; }
    // The sum of all HTTP/2 clients.
    session::http::Http2Counters http2_counters() const;

private:
    struct Site {
        explicit Site(MutBytes scratch);
        session::http::Router router;
        session::http::Context context;
    };
    struct Place {
        WantedEndpoint wanted;
        Role role;
        io::TlsContext* tls;
        bool has_metrics;  // the exporter names the endpoint too
    };

    static Role joined(Role first, Role second);
    static session::ConnectionLimits::Kind kind_of(Role role);
    static std::string label_of(const Place& place);
    Site& site(Role role) { return *sites_[static_cast<std::size_t>(role)]; }
    void set_options();
    void offer_protocols();
    Result<void> add_places(std::vector<Place>& places, const std::vector<std::string>& texts, Role role, io::TlsContext* tls);
    Result<std::vector<Place>> wanted_places();
    Result<void> open(const Place& place, bool is_guarded);

    const settings::CurrentSettings& settings_;
    api::Endpoints& endpoints_;
    const Log& log_;
    session::http::ApiGuard* guard_ = nullptr;
    session::ConnectionLimits& places_;
    const io::PortSharing sharing_;
    std::vector<std::unique_ptr<Site>> sites_;  // by role
    HttpCertificates certificates_;
    std::vector<std::pair<Endpoint, session::http::ProtocolSniffer*>> shared_;
    session::http2::Server http2_;
    io::Scope connections_{"http-connection"};
    io::Scope listeners_{"http-listener"};
    std::vector<std::unique_ptr<session::http::Acceptor>> acceptors_;
    std::vector<session::http::Acceptor*> stream_acceptors_;
};

}  // namespace live::app
