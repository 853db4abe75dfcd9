#include "app/wiring/http_wiring.hpp"

#include "io/fibers/deadline.hpp"
#include "service/files/sessions.hpp"
#include "session/http2/metrics.hpp"
#include "session/http_live/protocol.hpp"

namespace live::app {

namespace {

using Role = HttpPorts::Role;

}  // namespace

HttpWiring::HttpWiring(const settings::CurrentSettings& settings, const ApiWiring::Sources& sources,
                       const session::http::FileRoots& files, MutBytes scratch, session::ConnectionLimits& places, const Log& log)
    : settings_(settings),
      remux_options_(settings, &settings::Vhost::http_remux),
      api_(settings, sources, log),
      files_(files),
      ports_(settings, api_.endpoints(), scratch, places, sharing_of(sources.names.identity()), sources.names.workers_secret,
             log) {
    for (const Role role : {Role::api, Role::both, Role::workers})
        ports_.router(role).add("/console/", files_);
    endpoints().set_reference_page(files_);
    for (const Role role : {Role::streams, Role::both})
        ports_.router(role).add("/", files_);
    if (!sources.workers.is_on())
        return;
    using Scope = api::AggregateHandler::Scope;
    answer_for_all(Role::api, Scope::all, sources.workers);
    answer_for_all(Role::both, Scope::all, sources.workers);
    answer_for_all(Role::exporter, Scope::metrics, sources.workers);
    answer_for_all(Role::streams, Scope::sessions, sources.workers);
}

HttpWiring::~HttpWiring() = default;

void HttpWiring::answer_for_all(Role role, api::AggregateHandler::Scope scope, service::workers::WorkerService& workers) {
    whole_.push_back(std::make_unique<api::AggregateHandler>(endpoints().server(), workers, scope));
    ports_.router(role).set_front(*whole_.back());
}

void HttpWiring::add_streams(session::http::Handler& handler) {
    for (const Role role : {Role::streams, Role::both})
        ports_.router(role).add_fallback(handler);
}

void HttpWiring::add_files(session::http::Handler& handler) {
    add_streams(handler);
    ports_.router(Role::workers).add_fallback(handler);
}

void HttpWiring::add_for_workers(std::string_view pattern, session::http::Handler& handler) {
    ports_.router(Role::workers).add(std::string(pattern), handler);
}

Result<void> HttpWiring::start(io::Scope& fibers, io::Deadline) {
    TRY(api_.start(*settings_, services_));
    return ports_.start(fibers);
}

void HttpWiring::apply(io::Deadline) { ports_.apply(); }

Result<void> HttpWiring::close(io::Deadline) {
    ports_.close();
    return {};
}

Result<void> HttpWiring::hand_over(io::Deadline) {
    ports_.hand_over();
    return {};
}

Result<void> HttpWiring::stop(io::Deadline deadline) {
    auto stopped = ports_.stop(deadline);
    auto services = io::stop_all({&services_}, deadline);
    return stopped.ok() ? services : stopped;
}

std::optional<session::Protocol> HttpWiring::protocol() {
    auto described =
        session::http_live::describe([this] { return ports_.traffic(); }, sizeof(service::files::Session), remux_options_);
    described.add_memory = [this](std::vector<session::MemoryKind>& all) {
        all.push_back({"open_files", files_.open_files().size(), files_.open_files().content_bytes()});
    };
    described.write_metrics = [this](MetricsText& text) { session::http2::write_metrics(text, ports_.http2_counters()); };
    return described;
}

}  // namespace live::app
