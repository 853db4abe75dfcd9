// RtspWiring: everything this process does with RTSP, wired together: listeners and their connections. Permissions of a virtual
// host come from the settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/wiring/served_certificate.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/service.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/rtsp/connection.hpp"
#include "session/rtsp/context.hpp"
#include "session/rtsp/pull/dialler.hpp"
#include "session/rtsp/self_tester.hpp"
#include "settings/current_settings.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::app {

class RtspWiring final : public service::Service, private session::rtsp::RtspVhosts {
public:
    struct Shared {
        media::StreamTable& streams;
        session::Admission& admission;
        const service::admission::VhostPolicy& vhosts;
        session::StreamEvents& events;
        session::FanOut& fan_out;
        session::ClientTable& clients;
        session::ConnectionLimits& places;
        MutBytes scratch;
        session::PasswordSource& passwords;
        engine::workers::WorkerIdentity identity{};
        // Processes with the same one resume each other's TLS sessions.
        std::string secret{};
    };

    // `settings`, `log` and the shared objects must outlive this.
    RtspWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log);
    ~RtspWiring() override;
    RtspWiring(const RtspWiring&) = delete;
    RtspWiring& operator=(const RtspWiring&) = delete;

    std::string_view name() const override { return "RTSP"; }
    std::optional<session::Protocol> protocol() override;
    // Errors as TcpListener::listen.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    Result<void> close(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;

    // Pulls of cameras, which need no listener.
    session::rtsp::Dialler& dialler() { return dialler_; }
    const ServedCertificate& certificate() const { return certificate_; }

private:
    Result<void> listen(const std::vector<std::string>& texts, io::TlsContext* tls, const char* label);
    std::vector<Endpoint> endpoints() const;
    Result<void> start_udp();
    Result<session::rtsp::RtspOptions> find(const std::string& vhost) const override;

    const settings::CurrentSettings& settings_;
    const service::admission::VhostPolicy& vhosts_;
    // As of the start: a reload changes nothing of it.
    const session::rtsp::RtspServerOptions options_;
    const settings::RtspsOptions secure_options_;
    session::Traffic traffic_;
    session::rtsp::Counters counters_;
    std::multiset<std::string> published_;
    session::rtsp::UdpPorts ports_;
    session::rtsp::UdpFanOut udp_fan_out_{ports_};
    session::rtsp::SelfTester self_test_{ports_};
    session::rtsp::Context context_;
    session::rtsp::Dialler dialler_;
    session::ConnectionLimits& places_;
    const engine::workers::WorkerIdentity identity_;
    const Log& log_;
    ServedCertificate certificate_;
    io::Scope connections_{"rtsp"};
    io::Scope receivers_{"rtsp-udp"};
    io::Scope listeners_{"rtsp-listener"};
    std::vector<std::unique_ptr<session::rtsp::Acceptor>> acceptors_;
};

}  // namespace live::app
