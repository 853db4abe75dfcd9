#include "app/wiring/rtsp_wiring.hpp"

#include <utility>

#include "app/wiring/listening.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "session/rtsp/protocol.hpp"

namespace live::app {

RtspWiring::RtspWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log)
    : settings_(settings),
      vhosts_(shared.vhosts),
      options_(settings->rtsp_server),
      secure_options_(settings->rtsps),
      ports_(traffic_, log),
      context_{shared.streams,
               shared.admission,
               *this,
               shared.events,
               shared.fan_out,
               shared.clients,
               traffic_,
               counters_,
               ports_,
               udp_fan_out_,
               shared.passwords,
               published_,
               shared.scratch,
               std::string(kSignature)},
      dialler_(context_, shared.places.memory(), [this] { return endpoints(); }),
      places_(shared.places),
      identity_(shared.identity),
      log_(log),
      certificate_("RTSPS", shared.secret, log) {}

RtspWiring::~RtspWiring() = default;

Result<session::rtsp::RtspOptions> RtspWiring::find(const std::string& vhost) const {
    const auto served_by = TRY(vhosts_.rules_of(vhost));
    const auto& options = settings_->find_vhost(vhost)->rtsp;
    if (!options.enabled)
        return Error(Errc::denied, "virtual host " + served_by.name + " has no RTSP");
    return options;
}

Result<void> RtspWiring::listen(const std::vector<std::string>& texts, io::TlsContext* tls, const char* label) {
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(texts, sharing_of(identity_)))) {
        auto listener = TRY(listen_at(wanted, label, log_));
        if (listener == nullptr)
            continue;
        LOG_INFO(log_, "{} listen at tcp://{}, fd={}", label, listener->endpoint().text(), listener->native_handle());
        self_test_.add({listener->endpoint(), tls != nullptr});
        acceptors_.push_back(
            std::make_unique<session::rtsp::Acceptor>(std::move(listener), tls, context_, places_, connections_, log_));
        auto* acceptor = acceptors_.back().get();
        TRY(listeners_.start("rtsp-listener", [acceptor](io::Deadline forever) { acceptor->run(forever); }));
    }
    return {};
}

std::vector<Endpoint> RtspWiring::endpoints() const {
    std::vector<Endpoint> all;
    for (const auto& acceptor : acceptors_)
        all.push_back(acceptor->listener().endpoint());
    return all;
}

Result<void> RtspWiring::start(io::Scope& fibers, io::Deadline) {
    if (options_.enabled && options_.rtp_port_min > 0) {
        if (const auto opened = ports_.open(options_.rtp_port_min, options_.rtp_port_max); opened.ok())
            TRY(start_udp());
        else
            LOG_WARN(log_, "RTSP has media over the connection only: {}", opened.error().sentence());
    }
    if (options_.enabled)
        TRY(listen(options_.listen, nullptr, "RTSP"));
    if (!secure_options_.enabled)
        return {};
    TRY(certificate_.use(with_acme(secure_options_.tls, *settings_)));
    TRY(listen(secure_options_.listen, certificate_.context(), "RTSPS"));
    return fibers.start("certificates", [this](io::Deadline forever) { certificate_.watch(forever); });
}

Result<void> RtspWiring::start_udp() {
    TRY(ports_.start(receivers_));
    return udp_fan_out_.start(receivers_);
}

Result<void> RtspWiring::close(io::Deadline deadline) {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    return listeners_.stop(deadline);
}

Result<void> RtspWiring::stop(io::Deadline deadline) {
    for (const auto& acceptor : acceptors_)
        acceptor->close();
    return io::stop_all({&listeners_, &connections_, &receivers_}, deadline);
}

std::optional<session::Protocol> RtspWiring::protocol() {
    session::rtsp::Listening listening;
    if (options_.enabled)
        listening.plain = options_.listen;
    if (secure_options_.enabled)
        listening.secure = secure_options_.listen;
    return session::rtsp::describe(context_, self_test_, std::move(listening));
}

}  // namespace live::app
