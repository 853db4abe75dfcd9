#include "app/wiring/rtc_wiring.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/streams/rtc_handler.hpp"
#include "app/memory/process_usage.hpp"
#include "app/wiring/listening.hpp"
#include "base/log/log_format.hpp"
#include "engine/srtp/gcm_cipher.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/protocol.hpp"
#include "session/rtc/self_tester.hpp"
#include "session/rtc/session_opener.hpp"
#include "session/rtc/transport/circuit_breaker.hpp"
#include "session/rtc/transport/plaintext_mirror.hpp"
#include "session/rtc/transport/tcp_port.hpp"
#include "session/rtc/whip_handler.hpp"

namespace live::app {

using wire::sdp::Purpose;

class RtcWiring::Parts final : public session::rtc::RtcVhosts {
public:
    Parts(const settings::CurrentSettings& settings, const Shared& shared, const Log& log)
        : settings_(settings),
          vhosts_(shared.vhosts),
          http_(shared.http),
          identity_(shared.identity),
          offers_(shared.offers),
          log_(log),
          port_(io::now(), log),
          players_(port_),
          breaker_(settings->circuit_breaker),
          context_{shared.streams, *this, shared.admission, shared.events, shared.clients,
                   shared.places,  port_, players_,         log,           nullptr},
          tcp_(port_, shared.places, shared.scratch, log) {
        port_.set_forwarding(&shared.forwarding);
    }

    void set_plain_video(session::rtc::PlainVideo& plain_video) { context_.plain_video = &plain_video; }

    Result<void> start();
    Result<void> stop(io::Deadline deadline);
    void hand_over();
    session::Protocol protocol() {
        return session::rtc::describe(port_, breaker_, *this, context_.streams,
                                      [this](const auto& api_host, auto deadline) { return self_test(api_host, deadline); });
    }

private:
    Result<std::vector<WantedEndpoint>> ports_of(const std::vector<std::string>& texts) const;
    Result<void> listen_udp();
    Result<void> listen_tcp();
    void watch_load(io::Deadline deadline);
    Result<void> open_plaintext_mirror();
    void warn_of_dtls() const;
    Result<session::SelfTestReport> self_test(const std::string& api_host, io::Deadline deadline);

    Result<session::rtc::RtcOptions> find(const std::string& vhost) const override;
    session::rtc::RtcServerOptions server() const override { return settings_->rtc_server; }
    bool shows_bearer() const override;

    const settings::CurrentSettings& settings_;
    const service::admission::VhostPolicy& vhosts_;
    HttpWiring& http_;
    const engine::workers::WorkerIdentity identity_;
    service::workers::OfferForwarder& offers_;
    const Log& log_;
    io::Scope fibers_{"rtc"};
    std::unique_ptr<session::rtc::PlaintextMirror> plaintext_mirror_;
    session::rtc::Port port_;
    session::rtc::Players players_;
    session::rtc::CircuitBreaker breaker_;
    session::rtc::Context context_;
    session::rtc::TcpPort tcp_;
    std::unique_ptr<session::rtc::SessionOpener> opener_;
    std::optional<session::rtc::SelfTester> self_test_;
};

Result<session::rtc::RtcOptions> RtcWiring::Parts::find(const std::string& vhost) const {
    const auto served_by = TRY(vhosts_.rules_of(vhost));
    const auto& options = settings_->find_vhost(vhost)->rtc;
    if (!options.enabled)
        return Error(Errc::not_found, "virtual host " + served_by.name + " has no WebRTC");
    return options;
}

bool RtcWiring::Parts::shows_bearer() const {
    const settings::ApiAuthOptions& auth = settings_->http_api.auth;
    return !(auth.enabled && auth.takes_token() && auth.rtc_bearer_enabled);
}

Result<void> RtcWiring::Parts::start() {
    if (!settings_->rtc_server.enabled)
        return {};
    auto opener = session::rtc::SessionOpener::create(context_);
    if (!opener.ok()) {
        // Usually a missing system OpenSSL; parts that do not need it must still work.
        LOG_ERROR(log_, "WebRTC is disabled: {}", opener.error().sentence());
        return {};
    }
    opener_ = std::move(*opener);
    LOG_INFO(log_, "WebRTC media is encrypted by {} (AES-GCM), handshakes are done in {}", engine::srtp::GcmCipher::fastest(),
             opener_->has_handshake_thread() ? "a worker thread" : "the loop");
    TRY(listen_udp());
    TRY(listen_tcp());
    self_test_.emplace(context_, *opener_);
    TRY(open_plaintext_mirror());
    TRY(port_.start(fibers_));
    TRY(players_.start(fibers_));
    if (settings_->circuit_breaker.enabled)
        TRY(fibers_.start("rtc-load", [this](io::Deadline forever) { watch_load(forever); }));
    warn_of_dtls();
    opener_->set_others(offers_);
    offers_.answer_with(*opener_);
    http_.add_for_workers(service::workers::OfferForwarder::kPath, offers_);
    api::Endpoints& endpoints = http_.endpoints();
    endpoints.add<session::rtc::WhipHandler>("/rtc/v1/whip/", *opener_, *this, Purpose::publish);
    for (const char* path : {"/rtc/v1/whep/", "/rtc/v1/whip-play/"})
        endpoints.add<session::rtc::WhipHandler>(path, *opener_, *this, Purpose::play);
    endpoints.add<api::RtcHandler>("/rtc/v1/publish/", endpoints.server(), *opener_, Purpose::publish);
    endpoints.add<api::RtcHandler>("/rtc/v1/play/", endpoints.server(), *opener_, Purpose::play);
    return {};
}

// Measures the loop's thread only: worker threads (files, names) do not block clients.
void RtcWiring::Parts::watch_load(io::Deadline deadline) {
    TimePoint then = io::now();
    Duration used = thread_processor_time();
    while (io::sleep(deadline.sooner(io::Deadline::after(std::chrono::seconds(1)))).ok()) {
        const TimePoint now = io::now();
        const Duration used_now = thread_processor_time();
        const double percent =
            100 * std::chrono::duration<double>(used_now - used) / std::max<std::chrono::duration<double>>(now - then, 1ms);
        then = now;
        used = used_now;
        if (!breaker_.take_load(percent))
            continue;
        port_.shared().skips_nack = breaker_.is_high();
        port_.shared().skips_arrivals = breaker_.is_critical();
        players_.set_dropping(breaker_.is_dying());
        LOG_WARN(log_, "circuit breaker: cpu={:.0f}%, {}", percent, breaker_.text());
    }
}

Result<void> RtcWiring::Parts::open_plaintext_mirror() {
    const auto& options = settings_->rtc_server.plaintext_mirror;
    if (!options.enabled)
        return {};
    auto opened = session::rtc::PlaintextMirror::create(options.addr);
    if (!opened.ok())
        return Error(opened.error()).during("rtc_server { black_hole { addr; } }");
    plaintext_mirror_ = *std::move(opened);
    port_.shared().tap = [this](Bytes packet) { plaintext_mirror_->send(packet); };
    LOG_WARN(log_, "WebRTC: all media is copied to udp://{} without encryption", options.addr);
    return {};
}

void RtcWiring::Parts::warn_of_dtls() const {
    for (const settings::Vhost& vhost : settings_->vhosts)
        if (vhost.rtc.enabled && vhost.rtc.dtls_version == "dtls1.0")
            LOG_WARN(log_, "vhost {}: rtc.dtls_version dtls1.0 is deprecated (RFC 8996), DTLS 1.2 is used", vhost.name);
}

Result<session::SelfTestReport> RtcWiring::Parts::self_test(const std::string& api_host, io::Deadline deadline) {
    if (self_test_)
        return self_test_->run(api_host, deadline);
    return session::SelfTestReport{.probes_name = "candidates",
                                   .advice = {"WebRTC is off: rtc_server { enabled on; } and vhost { rtc { enabled on; } }"}};
}

// Each worker has its own ports, which its answers name: the first worker those of the settings, the others the ports above.
Result<std::vector<WantedEndpoint>> RtcWiring::Parts::ports_of(const std::vector<std::string>& texts) const {
    auto wanted = TRY(wanted_endpoints(texts));
    const unsigned more = identity_.is_worker() ? identity_.number - 1U : 0U;
    for (WantedEndpoint& one : wanted) {
        if (one.endpoint.port + more > 65'535)
            return Error(Errc::malformed, "there is no port for WebRTC on worker " + std::to_string(identity_.number));
        one.endpoint.port = static_cast<std::uint16_t>(one.endpoint.port + more);
    }
    return wanted;
}

Result<void> RtcWiring::Parts::listen_udp() {
    for (const WantedEndpoint& wanted : TRY(ports_of(settings_->rtc_server.listen))) {
        const auto opened = port_.listen(wanted.endpoint, settings_->rtc_server.reuseport);
        if (opened.ok())
            continue;
        if (!wanted.may_be_missing || opened.code() != Errc::system)
            return Error(opened.error()).during("listening for WebRTC");
        LOG_WARN(log_, "WebRTC does not listen at udp://{}: {}", wanted.endpoint.text(), opened.error().sentence());
    }
    return {};
}

Result<void> RtcWiring::Parts::listen_tcp() {
    const auto& options = settings_->rtc_server.tcp;
    if (!options.enabled)
        return {};
    std::uint16_t port = 0;
    for (const WantedEndpoint& wanted : TRY(ports_of(options.listen))) {
        // A port that is shared with HTTP is shared with the other workers too, and a connection to it may reach any of them.
        if (!identity_.is_worker() && TRY(http_.ports().share(wanted.endpoint, tcp_))) {
            LOG_INFO(log_, "WebRTC shares tcp://{} with HTTP", wanted.endpoint.text());
            port = port == 0 ? wanted.endpoint.port : port;
        } else if (auto listener = TRY(listen_at(wanted, "WebRTC over TCP", log_))) {
            TRY(tcp_.listen(std::move(listener), fibers_));
        }
    }
    opener_->set_tcp_port(tcp_.port_number() != 0 ? tcp_.port_number() : port);
    return {};
}

Result<void> RtcWiring::Parts::stop(io::Deadline deadline) {
    auto stopped = fibers_.stop(deadline);
    port_.clear();
    return stopped;
}

void RtcWiring::Parts::hand_over() {
    port_.sockets().stop_receiving();
    tcp_.close();
}

RtcWiring::RtcWiring(const settings::CurrentSettings& settings, const Shared& shared, const Log& log)
    : parts_(std::make_unique<Parts>(settings, shared, log)) {}

void RtcWiring::set_plain_video(session::rtc::PlainVideo& plain_video) { parts_->set_plain_video(plain_video); }

RtcWiring::~RtcWiring() = default;

Result<void> RtcWiring::start(io::Scope&, io::Deadline) { return parts_->start(); }

Result<void> RtcWiring::stop(io::Deadline deadline) { return parts_->stop(deadline); }

Result<void> RtcWiring::hand_over(io::Deadline) {
    parts_->hand_over();
    return {};
}

std::optional<session::Protocol> RtcWiring::protocol() { return parts_->protocol(); }

}  // namespace live::app
