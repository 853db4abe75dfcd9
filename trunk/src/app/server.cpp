#include "app/server.hpp"

#include <utility>

#include "base/log/log_format.hpp"
#include "service/acme/acme_service.hpp"

namespace live::app {

Server::Server(Private, settings::Settings settings, ServerNames names, std::size_t connections_max,
               std::unique_ptr<io::TlsContext> client_tls, const Log& log)
    : log_(log),
      names_(std::move(names)),
      settings_(std::move(settings)),
      services_(log),
      streams_(settings_, fibers_, log),
      clients_(settings_, names_, streams_.table(), connections_max, log),
      calls_(settings_, names_, std::move(client_tls), clients_, log),
      events_({services_, clients_, admission_, relays_, outputs_}),
      workers_({names_, streams_.table(), calls_.http(), events_, protocols_, admission_,
                [this](engine::workers::Purpose purpose, std::unique_ptr<io::TcpStream> stream) {
                    serve_worker(purpose, std::move(stream));
                }},
               log),
      relays_(
          {settings_, names_, streams_, clients_, calls_, events_, events_, workers_.service(), protocols_, admission_, ports_},
          log),
      admission_({clients_.vhosts(), clients_.places().memory(), streams_.table(), calls_.hooks(), relays_.token_check(),
                  clients_.keys(), calls_.key_sets(), clients_.users(), relays_.routes(workers_.service())}),
      ports_({settings_, names_, streams_, clients_, admission_, events_, workers_, http_}, log),
      programs_({settings_, streams_, clients_, admission_, events_, ports_}, log),
      outputs_({settings_, names_, streams_, clients_, calls_, admission_, events_, workers_, protocols_}, log),
      upkeep_({settings_, names_, services_, protocols_, streams_, clients_}, log),
      facts_({settings_, protocols_, streams_.fan_out(), clients_.places(), clients_.access_log(), workers_.service(),
              relays_.drain(), log}),
      http_(settings_,
            {.names = names_,
             .counters = facts_,
             .stream_stats = clients_.stats(),
             .vhosts = facts_,
             .raw = facts_,
             .fan_out = streams_.fan_out().counters(),
             .places = clients_.places(),
             .readiness = facts_,
             .protocols = protocols_,
             .transcoders = streams_.transcoders(),
             .services = services_,
             .relay = relays_.pulls(),
             .forwards = relays_.forwards(),
             .workers = workers_.service(),
             .drain = facts_,
             .upgrade = *names_.upgrade,
             .conf_warnings = facts_.conf_warnings()},
            outputs_.files(), clients_.scratch(), clients_.places(), log),
      first_worker_({settings_, names_, calls_, ports_, streams_.table(), admission_, http_, protocols_, clients_}, log) {
    http_.ports().set_guard(calls_.api_access());
    // After a reload with another key set, its tokens cannot be verified before.
    calls_.set_on_first_keys([this] { clients_.apply_access(admission_.access()); });
    register_parts();
}

// In the order of start. The API ports open after every other part has added its routes; ingests are clients of this server.
void Server::register_parts() {
    for (Part* part : std::initializer_list<Part*>{&calls_, &clients_, &streams_, &workers_, &relays_, &programs_, &outputs_,
                                                   &upkeep_, &ports_}) {
        part->add_services(services_);
        part->add_routes(http_);
    }
    first_worker_.add_routes(http_);
    admission_.add_streams_on_demand(first_worker_.streams_on_demand());
    admission_.add_streams_on_demand(programs_.engines());
    // After streams that somebody makes.
    admission_.add_streams_on_demand(programs_.slates());
    ports_.rtc().set_plain_video(programs_.engines());
    services_.add(http_);
    first_worker_.add_services(services_);
    protocols_ = services_.protocols();
}

Server::~Server() = default;

void Server::serve_worker(engine::workers::Purpose purpose, std::unique_ptr<io::TcpStream> stream) {
    if (purpose == engine::workers::Purpose::media)
        ports_.rtmp().serve_worker(std::move(stream));
    else
        http_.ports().serve_worker(std::move(stream));
}

Result<std::unique_ptr<Server>> Server::create(settings::Settings settings, ServerNames names, std::size_t connections_max,
                                               const Log& log) {
    auto tls = TRY(OutgoingCalls::load_tls(settings.tls_client, log));
    if (settings.acme.enabled)
        TRY(service::acme::make_first_certificate(service::acme::files_beside(settings.pid)));
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
    clients_.set_limits(connections_max);
    clients_.apply_vhosts(admission_.vhosts());
    services_.apply(deadline);
    clients_.apply_access(admission_.access());
    return {};
}

void Server::close(io::Deadline deadline) {
    facts_.set_takes_clients(false);
    services_.close(deadline);
}

void Server::hand_over(io::Deadline deadline) {
    facts_.set_takes_clients(false);
    services_.hand_over(deadline);
}

void Server::stop(io::Deadline deadline) {
    close(deadline);
    services_.stop(deadline);
    if (const auto stopped = fibers_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping the services: {}", stopped.error().text());
}

}  // namespace live::app
