// HttpWiring: everything this process serves over HTTP and HTTPS, wired together: the listeners of http_api, http_server and
// exporter, a router for each set of them, and the API's handlers. When the API and the streams share an endpoint they share a
// router. The exporter's router has only metrics and probes: a client that may read metrics may not control the server. Streaming
// services register their handlers here.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/common/server_info.hpp"
#include "api/common/whole_handler.hpp"
#include "api/debug/allocator_handler.hpp"
#include "api/debug/fault_handler.hpp"
#include "api/debug/fibers_handler.hpp"
#include "api/debug/memory_handler.hpp"
#include "api/debug/profile_handler.hpp"
#include "api/debug/valgrind_handler.hpp"
#include "api/streams/stats_handlers.hpp"
#include "api/system/info_handlers.hpp"
#include "api/system/metrics_handlers.hpp"
#include "api/system/raw_handler.hpp"
#include "api/system/server_handlers.hpp"
#include "api/system/system_handlers.hpp"
#include "api/system/system_sampler.hpp"
#include "app/wiring/listening.hpp"
#include "app/wiring/served_certificate.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "io/tls/tls_context.hpp"
#include "service/service.hpp"
#include "session/common/traffic.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"
#include "session/http/static_handler.hpp"
#include "session/limits/places.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class HttpWiring final : public service::Service {
public:
    // What the API reports on; outlives the wiring.
    struct Sources {
        const ServerNames& names;
        const api::ServerCounters& counters;
        const service::stats::StreamStats& stream_stats;
        const api::VhostSettings& vhosts;
        const session::http::FileRoots& files;
        api::RawControl& raw;
        const api::Allocator* allocator;  // nullptr in ordinary builds
        const session::FanOutCounters& fan_out;
        const api::Readiness& readiness;
        const api::MemoryCounts& memory;
        const api::RtcMeter& rtc;
        const api::SrtMeter& srt;
        const media::AudioTranscoders& transcoders;
        const service::relay::RelayService& relay;
        const service::forward::ForwardService& forwards;
        const service::cluster::ClusterService& node;
        service::workers::WorkerService& workers;
    };

    HttpWiring(const settings::CurrentSettings& settings, const Sources& sources, MutBytes scratch, session::Places& places,
               const Log& log);
    ~HttpWiring() override;
    HttpWiring(const HttpWiring&) = delete;
    HttpWiring& operator=(const HttpWiring&) = delete;

    // To be called before start(); the handlers outlive the wiring. Adds a fallback to the streaming ports, asked in order
    // (Router::add_fallback).
    void add_streams(session::http::Handler& handler);
    // The same for other workers too.
    void add_files(session::http::Handler& handler);
    // Only for other workers.
    void add_for_workers(const std::string& pattern, session::http::Handler& handler);
    // Serves another worker, which asks for this one's part.
    void serve_worker(std::unique_ptr<io::TcpStream> stream);
    // How handlers of the API identify this server.
    const api::ServerInfo& info() const { return info_; }
    // Adds a pattern to the API ports.
    void add_api(const std::string& pattern, session::http::Handler& handler);
    // Adds a pattern to the streaming ports.
    void add_page(const std::string& pattern, session::http::Handler& handler);
    // Adds a pattern to all ports, because pages on the streaming ports call it too.
    void add_everywhere(const std::string& pattern, session::http::Handler& handler);

    // To be called before start(): clients of another protocol are also served on this endpoint, if the settings name it. False
    // if they do not. `other` outlives the connections.
    Result<bool> share(const Endpoint& endpoint, session::http::OtherProtocol& other);
    // Opens all endpoints of the settings and starts the samplers. Errors as TcpListener::listen and TlsContext::server.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Applies what may change at runtime: passwords, CORS, certificates. If a certificate cannot be loaded, the old one stays.
    void apply(io::Deadline deadline) override;
    // Stops accepting stream clients and closes idle ones; the API goes on, with one request per connection.
    Result<void> close(io::Deadline deadline) override;
    // Of the API too.
    Result<void> hand_over(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "HTTP"; }
    // The "data" of /api/v1/summaries, as JSON text.
    std::string summaries() const { return api_.summaries(); }
    // Of all HTTP connections.
    session::Traffic traffic() const;

private:
    // The router that answers.
    enum class Role : std::uint8_t { api, streams, both, exporter };
    // The role of an endpoint named by two blocks; the exporter adds its own paths to either.
    static Role joined(Role first, Role second);
    static session::Places::Kind kind_of(Role role);
    struct Site {
        explicit Site(MutBytes scratch);
        session::http::Router router;
        session::http::Context context;
    };
    struct Place {
        WantedEndpoint wanted;
        Role role;
        io::TlsContext* tls;
    };

    Site& site(Role role);
    static std::string label_of(const Place& place);
    void set_options();
    Result<void> add_places(std::vector<Place>& places, const std::vector<std::string>& texts, Role role, io::TlsContext* tls);
    Result<std::vector<Place>> wanted_places();
    Result<settings::TlsFiles> usable(const settings::TlsFiles& files) const;
    Result<void> load_certificates();
    Result<void> open(const Place& place, bool is_guarded);

    const settings::CurrentSettings& settings_;
    const Log& log_;
    session::Places& places_;
    const service::workers::Seat seat_;
    api::ServerInfo info_;
    api::SystemSampler sampler_;
    api::ServerApi api_;
    api::StatsApi stats_api_;
    api::InfoApi info_api_;
    api::SystemApi system_api_;
    api::MetricsApi metrics_api_;
    api::RawHandler raw_;
    std::optional<api::AllocatorHandler> allocator_;
    std::optional<api::ValgrindHandler> valgrind_;
    api::MemoryHandler memory_;
    api::FibersHandler fibers_;
    api::ProfileHandler profile_;
    api::FaultHandler faults_{info_};
    session::http::StaticHandler files_;
    Site api_site_;
    Site stream_site_;
    Site shared_site_;
    Site exporter_site_;
    Site worker_site_;                                 // for other workers
    std::optional<api::WholeHandler> whole_;           // with several workers
    std::optional<api::WholeHandler> whole_metrics_;   // on the exporter's port
    std::optional<api::WholeHandler> whole_sessions_;  // on the streaming ports
    std::vector<std::pair<Endpoint, session::http::OtherProtocol*>> shared_;
    ServedCertificate api_certificate_;
    ServedCertificate stream_certificate_;
    io::Scope services_{"http-service"};
    io::Scope connections_{"http-connection"};
    io::Scope listeners_{"http-listener"};
    std::vector<std::unique_ptr<session::http::Acceptor>> acceptors_;
    std::vector<session::http::Acceptor*> stream_acceptors_;
};

}  // namespace live::app
