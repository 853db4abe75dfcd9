#include "app/wiring/srt_wiring.hpp"

#include "app/wiring/listening.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "session/srt/protocol.hpp"

namespace live::app {

SrtWiring::SrtWiring(const settings::CurrentSettings& settings, const Shared& shared, bool may_listen, const Log& log)
    : settings_(settings),
      vhosts_(shared.vhosts),
      log_(log),
      options_(settings->srt_server),
      port_(io::now(), log),
      self_test_(port_),
      players_(port_),
      context_{shared.streams, *this, shared.admission, shared.events,     shared.clients,
               shared.places,  port_, players_,         shared.transports, log},
      opener_(context_, sessions_),
      dialler_(context_, [this] { return run(); }),
      may_listen_(may_listen) {
    port_.set_forwarding(&shared.forwarding);
}

SrtWiring::~SrtWiring() = default;

Result<session::srt::SrtOptions> SrtWiring::find(const std::string& vhost) const {
    const auto served_by = TRY(vhosts_.rules_of(vhost));
    const auto& options = settings_->find_vhost(vhost)->srt;
    if (!options.enabled)
        return Error(Errc::denied, "virtual host " + served_by.name + " has no SRT");
    return options;
}

std::string SrtWiring::serving_name(const std::string& vhost) const {
    const auto serving = vhosts_.rules_of(vhost);
    return serving.ok() ? serving->name : vhost;
}

Result<void> SrtWiring::start(io::Scope&, io::Deadline) {
    if (!may_listen_ || !options_.enabled)
        return {};
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(options_.listen))) {
        const auto opened = port_.listen(wanted.endpoint);
        if (opened.ok())
            continue;
        if (!wanted.may_be_missing || opened.code() != Errc::system)
            return Error(opened.error()).during("listening for SRT");
        LOG_WARN(log_, "SRT does not listen at udp://{}: {}", wanted.endpoint.text(), opened.error().sentence());
    }
    port_.set_handshake_listener(opener_);
    port_.set_key_bytes(options_.pbkeylen);
    return run();
}

Result<void> SrtWiring::run() {
    if (is_running_)
        return {};
    is_running_ = true;
    TRY(port_.start(fibers_));
    return players_.start(fibers_);
}

Result<void> SrtWiring::hand_over(io::Deadline) {
    port_.sockets().stop_receiving();
    return {};
}

// Sessions say goodbye through the port.
Result<void> SrtWiring::stop(io::Deadline deadline) { return io::stop_all({&sessions_, &fibers_}, deadline); }

std::optional<session::Protocol> SrtWiring::protocol() {
    auto protocol = session::srt::describe(
        port_, players_, opener_.half_open(), self_test_, *this, [this] { return is_running_; },
        [this] { return settings_->srt_server; });
    if (!may_listen_)
        protocol.self_test = {};  // another worker has the port
    return protocol;
}

}  // namespace live::app
