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
      context_{shared.streams, *this, shared.admission, shared.events, shared.clients, shared.limit, port_, players_, log} {}

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
    if (!settings_->rtc_server.enabled)
        return {};
    gate_ = TRY(session::rtc::Gate::create(context_));
    TRY(listen_udp());
    TRY(port_.start(fibers_));
    TRY(players_.start(fibers_));
    const auto add = [&](const char* name, std::unique_ptr<session::http::Handler> handler) {
        mount(http, name, *handler);
        handlers_.push_back(std::move(handler));
    };
    add("/rtc/v1/whip", std::make_unique<session::rtc::WhipHandler>(*gate_, *this, Purpose::publish));
    for (const char* name : {"/rtc/v1/whep", "/rtc/v1/whip-play"})
        add(name, std::make_unique<session::rtc::WhipHandler>(*gate_, *this, Purpose::play));
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
