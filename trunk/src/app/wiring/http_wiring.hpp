// HttpWiring: everything this process serves over HTTP and HTTPS: the ports, the API and the files. Streaming services register
// their handlers here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/common/aggregate_handler.hpp"
#include "app/vhosts/vhost_options.hpp"
#include "app/wiring/api_wiring.hpp"
#include "app/wiring/http_ports.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "service/service.hpp"
#include "session/http/static_handler.hpp"
#include "session/limits/connection_limits.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class HttpWiring final : public service::Service {
public:
    // Everything referred to outlives the wiring.
    HttpWiring(const settings::CurrentSettings& settings, const ApiWiring::Sources& sources,
               const session::http::FileRoots& files, MutBytes scratch, session::ConnectionLimits& places, const Log& log);
    ~HttpWiring() override;
    HttpWiring(const HttpWiring&) = delete;
    HttpWiring& operator=(const HttpWiring&) = delete;

    // Before start(); the handlers outlive the wiring. Adds a fallback to the streaming ports, asked in order
    // (Router::add_fallback).
    void add_streams(session::http::Handler& handler);
    // The same, for requests of other workers too.
    void add_files(session::http::Handler& handler);
    // Adds a pattern that serves only other workers.
    void add_for_workers(std::string_view pattern, session::http::Handler& handler);
    api::Endpoints& endpoints() { return api_.endpoints(); }
    HttpPorts& ports() { return ports_; }

    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void apply(io::Deadline deadline) override;
    void on_tick() override { files_.trim(io::now()); }
    Result<void> close(io::Deadline deadline) override;
    Result<void> hand_over(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "HTTP"; }
    // The "data" of /api/v1/summaries, as JSON text.
    std::string summaries() const { return api_.summaries(); }
    std::optional<session::Protocol> protocol() override;

private:
    // Answers for all workers, in front of the router of these ports.
    void answer_for_all(HttpPorts::Role role, api::AggregateHandler::Scope scope, service::workers::WorkerService& workers);

    const settings::CurrentSettings& settings_;
    VhostOptions<session::http_live::RemuxOptions> remux_options_;
    ApiWiring api_;
    session::http::StaticHandler files_;
    HttpPorts ports_;
    std::vector<std::unique_ptr<api::AggregateHandler>> whole_;  // with several workers
    io::Scope services_{"http-service"};
};

}  // namespace live::app
