// SrtWiring: everything this process does with SRT, wired together: the port, the players and the opener of sessions. Permissions
// of a virtual host come from the settings.
#pragma once

#include <memory>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "media/source/stream_table.hpp"
#include "service/admission/vhost_policy.hpp"
#include "service/service.hpp"
#include "session/common/client_table.hpp"
#include "session/common/protocol.hpp"
#include "session/limits/connection_limits.hpp"
#include "session/srt/call/dialler.hpp"
#include "session/srt/context.hpp"
#include "session/srt/opener.hpp"
#include "session/srt/port/players.hpp"
#include "session/srt/port/port.hpp"
#include "session/srt/self_tester.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class SrtWiring final : public service::Service, private session::srt::SrtVhosts {
public:
    struct Shared {
        media::StreamTable& streams;
        session::Admission& admission;
        const service::admission::VhostPolicy& vhosts;
        session::StreamEvents& events;
        session::ClientTable& clients;
        session::ConnectionLimits& places;
        session::DatagramForwarding& forwarding;
        session::TransportLogs& transports;
    };

    // `settings` and the shared objects must outlive this. One of several workers listens; all may make calls.
    SrtWiring(const settings::CurrentSettings& settings, const Shared& shared, bool may_listen, const Log& log);
    ~SrtWiring() override;
    SrtWiring(const SrtWiring&) = delete;
    SrtWiring& operator=(const SrtWiring&) = delete;

    // WakeMode and serves, if enabled in the settings. Errors as UdpSocket::bind.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    // Ends all sessions.
    Result<void> stop(io::Deadline deadline) override;
    // Sessions continue; their datagrams arrive by Protocol::take_datagram.
    Result<void> hand_over(io::Deadline deadline) override;
    std::string_view name() const override { return "SRT"; }
    std::optional<session::Protocol> protocol() override;
    // Connections to other servers, which need no listener.
    session::srt::Dialler& dialler() { return dialler_; }

private:
    // Starts the fibers; once.
    Result<void> run();
    Result<session::srt::SrtOptions> find(const std::string& vhost) const override;
    std::string serving_name(const std::string& vhost) const override;
    // As of the start: a reload changes nothing of it.
    const session::srt::SrtServerOptions& server() const override { return options_; }
    const session::srt::SrtLimitOptions& limits() const override { return settings_->srt_limits; }

    const settings::CurrentSettings& settings_;
    const service::admission::VhostPolicy& vhosts_;
    const Log& log_;
    const session::srt::SrtServerOptions options_;
    io::Scope fibers_{"srt"};
    io::Scope sessions_{"srt-session"};
    session::srt::Port port_;
    session::srt::SelfTester self_test_;
    session::srt::Players players_;
    session::srt::Context context_;
    session::srt::Opener opener_;
    session::srt::Dialler dialler_;
    const bool may_listen_;
    bool is_running_ = false;
};

}  // namespace live::app
