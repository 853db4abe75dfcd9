// Server: a running process. It owns the parts (app/parts) in the order in which they are constructed, starts their services,
// reloads them, and stops them in the opposite order. The services' behaviour is in their rooms.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/parts/api_facts.hpp"
#include "app/parts/client_core.hpp"
#include "app/parts/events.hpp"
#include "app/parts/first_worker_services.hpp"
#include "app/parts/outgoing_calls.hpp"
#include "app/parts/outputs.hpp"
#include "app/parts/ports.hpp"
#include "app/parts/programs.hpp"
#include "app/parts/relays.hpp"
#include "app/parts/stream_core.hpp"
#include "app/parts/upkeep.hpp"
#include "app/parts/worker_links.hpp"
#include "app/wiring/http_wiring.hpp"
#include "app/wiring/server_names.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "service/admission/admission_policies.hpp"
#include "service/service_list.hpp"
#include "session/common/protocol.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class Server {
    struct Private {};

public:
    // Listens on all endpoints of the settings. Errc::conflict when a port is taken, Errc::denied, Errc::system. A loop exists.
    static Result<std::unique_ptr<Server>> create(settings::Settings settings, ServerNames names, std::size_t connections_max,
                                                  const Log& log);
    Server(Private, settings::Settings settings, ServerNames names, std::size_t connections_max,
           std::unique_ptr<io::TlsContext> client_tls, const Log& log);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Applies what may change at runtime; an error means that nothing has changed.
    Result<void> reload(settings::Settings settings, std::size_t connections_max);

    // The stop sequence, in steps, so that a graceful stop can wait between them. First, refuses new clients and ends child
    // processes.
    void close(io::Deadline deadline);
    // Before close(): empties a node of a cluster.
    Drain& drain() { return relays_.drain(); }
    bool is_cluster_node() { return relays_.node().is_on(); }
    // Publishers leave by themselves, or are closed at stop().
    void ask_publishers_to_leave() { clients_.ask_publishers_to_leave(); }
    void stop(io::Deadline deadline);
    // Instead of close(): a new program has the sockets, and takes new clients.
    void hand_over(io::Deadline deadline);
    service::workers::WorkerService& workers() { return workers_.service(); }

    // The access log was moved away.
    void reopen_access_log() {
        clients_.access_log().open();
        calls_.api_access().open();
    }

    // For the API.
    void note_reload(api::RawControl::Reload reload) { facts_.note_reload(std::move(reload)); }
    void note_warnings(std::vector<std::string> warnings) { facts_.note_warnings(std::move(warnings)); }

    const settings::Settings& settings() const { return *settings_; }
    std::size_t connections() const { return clients_.places().used(); }

private:
    Result<void> start();
    void register_parts();
    // A connection from another worker.
    void serve_worker(engine::workers::Purpose purpose, std::unique_ptr<io::TcpStream> stream);

    // A reference to a later member is not used before that member exists: it is needed by the first client.
    const Log& log_;
    const ServerNames names_;
    settings::CurrentSettings settings_;
    service::ServiceList services_;
    session::Protocols protocols_;  // of the services
    io::Scope fibers_{"service"};   // of the services
    StreamCore streams_;
    ClientCore clients_;
    OutgoingCalls calls_;
    Events events_;
    WorkerLinks workers_;
    Relays relays_;
    service::admission::AdmissionPolicies admission_;
    Ports ports_;
    Programs programs_;
    Outputs outputs_;
    Upkeep upkeep_;
    ApiFacts facts_;
    HttpWiring http_;
    FirstWorkerServices first_worker_;
};

}  // namespace live::app
