#include "app/library/playback_port.hpp"

#include <string>
#include <utility>

#include "app/wiring/listening.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"

namespace live::app {

PlaybackPort::PlaybackPort(const settings::CurrentSettings& settings, const service::recordings::PlaybackContext& context,
                           MutBytes scratch, session::ConnectionLimits& places, engine::workers::WorkerIdentity identity,
                           const Log& log)
    : settings_(settings),
      places_(places),
      identity_(identity),
      log_(log),
      handler_(context, ""),
      beside_streams_(context, "/recordings"),
      http_{.router = router_, .scratch = scratch, .server = std::string(kSignature), .auth = {}, .limits = {}} {
    router_.add("/", handler_);
}

Result<void> PlaybackPort::start(io::Scope&, io::Deadline deadline) {
    apply(deadline);
    // One worker has the list of all files.
    if (!settings_->playback.enabled || !identity_.is_first())
        return {};
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(settings_->playback.listen))) {
        auto listener = TRY(listen_at(wanted, "playback", log_));
        if (!listener)
            continue;
        LOG_INFO(log_, "Playback listen at tcp://{}, fd={}", wanted.endpoint.text(), listener->native_handle());
        acceptors_.push_back(std::make_unique<session::http::Acceptor>(
            std::move(listener), nullptr, http_, places_, session::ConnectionLimits::Kind::client, connections_, log_));
        auto* acceptor = acceptors_.back().get();
        TRY(listeners_.start("playback-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); }));
    }
    return {};
}

void PlaybackPort::apply(io::Deadline) { http_.allows_cross_origin = settings_->http_server.crossdomain; }

Result<void> PlaybackPort::close(io::Deadline) {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    http_.idle.end();
    return {};
}

Result<void> PlaybackPort::stop(io::Deadline deadline) { return io::stop_all({&listeners_, &connections_}, deadline); }

std::optional<session::Protocol> PlaybackPort::protocol() {
    return service::recordings::describe_playback([this] { return http_.traffic; });
}

}  // namespace live::app
