// CasterWiring: the stream casters in the settings: listeners of HTTP, to which publishers POST FLV, and UDP ports for transport
// streams.
#pragma once

#include <memory>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "service/service.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"
#include "session/http_live/publish_handler.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/mpegts/port.hpp"
#include "settings/current_settings.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::app {

class CasterWiring final : public service::Service {
public:
    // Everything referred to outlives this.
    CasterWiring(const settings::CurrentSettings& settings, session::http_live::Context& live, MutBytes scratch,
                 session::ConnectionLimits& places, session::TransportLogs& transports, engine::workers::WorkerIdentity identity,
                 const Log& log);
    ~CasterWiring() override;
    CasterWiring(const CasterWiring&) = delete;
    CasterWiring& operator=(const CasterWiring&) = delete;

    // Opens the endpoints of every enabled caster. Errors as TcpListener::listen and mpegts::Port::listen.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // The senders of MPEG-TS are the other process's from now on.
    Result<void> hand_over(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "the stream casters"; }
    std::optional<session::Protocol> protocol() override;

private:
    // The bytes of all these publishers.
    session::Traffic traffic() const;
    struct Caster;
    Result<void> start_flv(const settings::StreamCasterOptions& options);
    Result<void> start_mpegts(const settings::StreamCasterOptions& options);

    const settings::CurrentSettings& settings_;
    session::http_live::Context& live_;
    MutBytes scratch_;
    session::ConnectionLimits& places_;
    const engine::workers::WorkerIdentity identity_;
    const Log& log_;
    session::mpegts::Context mpegts_;
    io::Scope connections_{"caster-connection"};
    io::Scope listeners_{"caster-listener"};
    std::vector<std::unique_ptr<Caster>> casters_;
    std::vector<std::unique_ptr<session::mpegts::Port>> ports_;
};

}  // namespace live::app
