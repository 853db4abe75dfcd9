// RtmpWiring: the listeners for RTMP and RTMPS, and their connections.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/wiring/served_certificate.hpp"
#include "base/log/log.hpp"
#include "base/net/endpoint.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_context.hpp"
#include "service/service.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtmp/connection.hpp"
#include "session/rtmp/context.hpp"
#include "settings/current_settings.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::app {

class RtmpWiring final : public service::Service {
public:
    struct Shared {
        media::StreamTable& streams;
        session::Admission& admission;
        const session::rtmp::VhostOptions& vhosts;
        session::StreamEvents& events;
        session::FanOut& fan_out;
        session::ClientTable& clients;
        session::ConnectionLimits& places;
        MutBytes scratch;
        std::int64_t process_id = 0;
        engine::workers::WorkerIdentity identity{};
        std::string secret{};  // the workers'
        session::PasswordSource* passwords = nullptr;
    };

    // `settings`, `log` and the shared objects must outlive this.
    RtmpWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log);
    ~RtmpWiring() override;

    std::string_view name() const override { return "RTMP"; }
    std::optional<session::Protocol> protocol() override;
    // Errors as TcpListener::listen and TlsContext::server.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Also opens the listeners of the proposed settings; errors as start().
    Result<void> prepare(io::Deadline deadline) override;
    // Closes the listeners that the settings do not name. Their connections continue.
    void apply(io::Deadline deadline) override;
    Result<void> close(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;

    // Serves another worker, which does not count as a client.
    void serve_worker(std::unique_ptr<io::TcpStream> stream);
    // The endpoints it listens on.
    std::vector<Endpoint> endpoints() const;
    const ServedCertificate& certificate() const { return certificate_; }

private:
    Result<std::vector<std::unique_ptr<io::TcpListener>>> open_new(const std::vector<std::string>& texts, const char* label);
    void start_acceptor(std::unique_ptr<io::TcpListener> listener, io::TlsContext* tls, const char* label);

    const settings::CurrentSettings& settings_;
    session::Traffic traffic_;
    session::rtmp::Context context_;
    session::ConnectionLimits& places_;
    const engine::workers::WorkerIdentity identity_;
    const Log& log_;
    ServedCertificate certificate_;
    io::Scope connections_{"connection"};
    io::Scope listeners_{"listener"};
    // Including those with a closed listener: their connections continue.
    std::vector<std::unique_ptr<session::rtmp::Acceptor>> acceptors_;
};

}  // namespace live::app
