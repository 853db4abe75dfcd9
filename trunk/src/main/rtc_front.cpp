#include "main/rtc_front.hpp"

#include <utility>

#include "base/log_format.hpp"
#include "io/loop.hpp"
#include "main/listening.hpp"

namespace live::main_ {

using wire::sdp::Purpose;

RtcFront::RtcFront(const Settings& settings, const Shared& shared, const Log& log)
    : settings_(&settings),
      admission_(shared.admission),
      log_(log),
      port_(io::now(), log),
      players_(port_),
      context_{shared.streams, *this, shared.admission, shared.events, shared.clients, shared.limit, port_, players_, log},
      tcp_(port_, shared.limit, shared.scratch, log) {}

RtcFront::~RtcFront() = default;

Result<session::rtc::RtcOptions> RtcFront::find(const std::string& vhost) const {
    const Vhost* serving = TRY(admission_.serving_vhost(vhost));
    if (!serving->rtc.enabled)
        return Error(Errc::not_found, "virtual host " + serving->name + " has no WebRTC");
    return serving->rtc;
}

bool RtcFront::shows_bearer() const {
    const ApiAuthOptions& auth = settings_->http_api.auth;
    return !(auth.enabled && auth.type == ApiAuthType::bearer && auth.rtc_bearer_enabled);
}

Result<void> RtcFront::start(HttpFront& http) {
    const auto add_doctor = [&] {
        handlers_.push_back(std::make_unique<api::DoctorHandler>(http.info(), doctor_ ? &*doctor_ : nullptr));
        http.add_api(api::DoctorHandler::kPath, *handlers_.back());
    };
    if (!settings_->rtc_server.enabled) {
        add_doctor();
        return {};
    }
    gate_ = TRY(session::rtc::Gate::create(context_));
    TRY(listen_udp());
    TRY(listen_tcp());
    doctor_.emplace(context_, *gate_);
    add_doctor();
    TRY(port_.start(fibers_));
    TRY(players_.start(fibers_));
    const auto add = [&](const char* name, std::unique_ptr<session::http::Handler> handler) {
        mount(http, name, *handler);
        handlers_.push_back(std::move(handler));
    };
    const session::rtc::RtcVhosts& vhosts = *this;
    add("/rtc/v1/whip", std::make_unique<session::rtc::WhipHandler>(*gate_, vhosts, Purpose::publish));
    for (const char* name : {"/rtc/v1/whep", "/rtc/v1/whip-play"})
        add(name, std::make_unique<session::rtc::WhipHandler>(*gate_, vhosts, Purpose::play));
    add("/rtc/v1/publish", std::make_unique<api::RtcHandler>(http.info(), *gate_, Purpose::publish));
    add("/rtc/v1/play", std::make_unique<api::RtcHandler>(http.info(), *gate_, Purpose::play));
    return {};
}

Result<void> RtcFront::listen_udp() {
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(settings_->rtc_server.listen))) {
        const auto opened = port_.listen(wanted.endpoint);
        if (opened.ok())
            continue;
        if (!wanted.may_be_missing || opened.code() != Errc::system)
            return Error(opened.error()).during("listening for WebRTC");
        LOG_WARN(log_, "WebRTC does not listen at udp://{}: {}", wanted.endpoint.text(), opened.error().sentence());
    }
    return {};
}

Result<void> RtcFront::listen_tcp() {
    const auto& options = settings_->rtc_server.tcp;
    if (!options.enabled)
        return {};
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(options.listen)))
        if (auto listener = TRY(listen_at(wanted, "WebRTC over TCP", log_)))
            TRY(tcp_.listen(std::move(listener), fibers_));
    gate_->set_tcp_port(tcp_.port_number());
    return {};
}

// With and without a slash: a client that posts is not to be sent elsewhere.
void RtcFront::mount(HttpFront& http, const std::string& name, session::http::Handler& handler) {
    http.add_everywhere(name, handler);
    http.add_everywhere(name + "/", handler);
}

void RtcFront::stop(io::Deadline deadline) {
    if (const auto stopped = fibers_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping WebRTC: {}", stopped.error().text());
    port_.clear();
}

session::Traffic RtcFront::traffic() const {
    const auto& figures = port_.figures();
    return {figures.received_bytes, figures.sent_bytes};
}

}  // namespace live::main_
