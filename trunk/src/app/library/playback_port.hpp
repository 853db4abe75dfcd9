// PlaybackPort: the port of `playback`: its listeners and the connections of its clients.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "service/recordings/playback_handler.hpp"
#include "service/service.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"
#include "session/limits/connection_limits.hpp"
#include "settings/current_settings.hpp"
#include "supervisor/line/master_line.hpp"

namespace live::app {

class PlaybackPort final : public service::Service {
public:
    // Everything referred to outlives this.
    PlaybackPort(const settings::CurrentSettings& settings, const service::recordings::PlaybackContext& context, MutBytes scratch,
                 session::ConnectionLimits& places, engine::workers::WorkerIdentity identity, const Log& log);
    PlaybackPort(const PlaybackPort&) = delete;
    PlaybackPort& operator=(const PlaybackPort&) = delete;

    // Errors as TcpListener::listen.
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    void apply(io::Deadline deadline) override;
    // Clients that play go on.
    Result<void> close(io::Deadline deadline) override;
    Result<void> stop(io::Deadline deadline) override;
    std::string_view name() const override { return "playback"; }
    std::optional<session::Protocol> protocol() override;
    // The same for the port of the live streams; nullptr without playback.
    session::http::Handler* beside_streams() { return settings_->playback.enabled ? &beside_streams_ : nullptr; }

private:
    const settings::CurrentSettings& settings_;
    session::ConnectionLimits& places_;
    const engine::workers::WorkerIdentity identity_;
    const Log& log_;
    service::recordings::PlaybackHandler handler_;
    service::recordings::PlaybackHandler beside_streams_;
    session::http::Router router_;
    session::http::Context http_;
    io::Scope connections_{"playback-connection"};
    io::Scope listeners_{"playback-listener"};
    std::vector<std::unique_ptr<session::http::Acceptor>> acceptors_;
};

}  // namespace live::app
