#include "main/rtc_front.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/doctor_handler.hpp"
#include "api/rtc_handler.hpp"
#include "base/log_format.hpp"
#include "io/loop.hpp"
#include "io/scope.hpp"
#include "main/listening.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/doctor.hpp"
#include "session/rtc/gate.hpp"
#include "session/rtc/tcp_port.hpp"
#include "session/rtc/whip_handler.hpp"

namespace live::main_ {

using wire::sdp::Purpose;

class RtcFront::Parts final : public session::rtc::RtcVhosts {
public:
    Parts(const Settings& settings, const Shared& shared, const Log& log)
        : settings_(&settings),
          admission_(shared.admission),
          log_(log),
          port_(io::now(), log),
          players_(port_),
          context_{shared.streams, *this, shared.admission, shared.events, shared.clients, shared.limit, port_, players_, log},
          tcp_(port_, shared.limit, shared.scratch, log) {}

    void set_settings(const Settings& settings) { settings_ = &settings; }
    Result<void> start(HttpFront& http);
    void stop(io::Deadline deadline);
    session::Traffic traffic() const;

private:
    Result<void> listen_udp();
    Result<void> listen_tcp();
    void add_doctor(HttpFront& http);
    void add(HttpFront& http, const std::string& name, std::unique_ptr<session::http::Handler> handler);

    Result<session::rtc::RtcOptions> find(const std::string& vhost) const override;
    session::rtc::RtcServerOptions server() const override { return settings_->rtc_server; }
    bool shows_bearer() const override;

    const Settings* settings_;
    SettingsAdmission& admission_;
    const Log& log_;
    io::Scope fibers_{"rtc"};
    session::rtc::Port port_;
    session::rtc::Players players_;
    session::rtc::Context context_;
    session::rtc::TcpPort tcp_;
    std::unique_ptr<session::rtc::Gate> gate_;
    std::optional<session::rtc::Doctor> doctor_;
    std::vector<std::unique_ptr<session::http::Handler>> handlers_;
};

Result<session::rtc::RtcOptions> RtcFront::Parts::find(const std::string& vhost) const {
    const Vhost* serving = TRY(admission_.serving_vhost(vhost));
    if (!serving->rtc.enabled)
        return Error(Errc::not_found, "virtual host " + serving->name + " has no WebRTC");
    return serving->rtc;
}

bool RtcFront::Parts::shows_bearer() const {
    const ApiAuthOptions& auth = settings_->http_api.auth;
    return !(auth.enabled && auth.type == ApiAuthType::bearer && auth.rtc_bearer_enabled);
}

Result<void> RtcFront::Parts::start(HttpFront& http) {
    if (!settings_->rtc_server.enabled) {
        add_doctor(http);
        return {};
    }
    gate_ = TRY(session::rtc::Gate::create(context_));
    TRY(listen_udp());
    TRY(listen_tcp());
    doctor_.emplace(context_, *gate_);
    add_doctor(http);
    TRY(port_.start(fibers_));
    TRY(players_.start(fibers_));
    add(http, "/rtc/v1/whip", std::make_unique<session::rtc::WhipHandler>(*gate_, *this, Purpose::publish));
    for (const char* name : {"/rtc/v1/whep", "/rtc/v1/whip-play"})
        add(http, name, std::make_unique<session::rtc::WhipHandler>(*gate_, *this, Purpose::play));
    add(http, "/rtc/v1/publish", std::make_unique<api::RtcHandler>(http.info(), *gate_, Purpose::publish));
    add(http, "/rtc/v1/play", std::make_unique<api::RtcHandler>(http.info(), *gate_, Purpose::play));
    return {};
}

void RtcFront::Parts::add_doctor(HttpFront& http) {
    handlers_.push_back(std::make_unique<api::DoctorHandler>(http.info(), doctor_ ? &*doctor_ : nullptr));
    http.add_api(api::DoctorHandler::kPath, *handlers_.back());
}

// With and without a slash: a client that posts is not to be sent elsewhere.
void RtcFront::Parts::add(HttpFront& http, const std::string& name, std::unique_ptr<session::http::Handler> handler) {
    http.add_everywhere(name, *handler);
    http.add_everywhere(name + "/", *handler);
    handlers_.push_back(std::move(handler));
}

Result<void> RtcFront::Parts::listen_udp() {
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

Result<void> RtcFront::Parts::listen_tcp() {
    const auto& options = settings_->rtc_server.tcp;
    if (!options.enabled)
        return {};
    for (const WantedEndpoint& wanted : TRY(wanted_endpoints(options.listen)))
        if (auto listener = TRY(listen_at(wanted, "WebRTC over TCP", log_)))
            TRY(tcp_.listen(std::move(listener), fibers_));
    gate_->set_tcp_port(tcp_.port_number());
    return {};
}

void RtcFront::Parts::stop(io::Deadline deadline) {
    if (const auto stopped = fibers_.stop(deadline); !stopped.ok())
        LOG_WARN(log_, "stopping WebRTC: {}", stopped.error().text());
    port_.clear();
}

session::Traffic RtcFront::Parts::traffic() const {
    const auto& figures = port_.figures();
    return {figures.received_bytes, figures.sent_bytes};
}

RtcFront::RtcFront(const Settings& settings, const Shared& shared, const Log& log)
    : parts_(std::make_unique<Parts>(settings, shared, log)) {}

RtcFront::~RtcFront() = default;

void RtcFront::set_settings(const Settings& settings) { parts_->set_settings(settings); }

Result<void> RtcFront::start(HttpFront& http) { return parts_->start(http); }

void RtcFront::stop(io::Deadline deadline) { parts_->stop(deadline); }

session::Traffic RtcFront::traffic() const { return parts_->traffic(); }

}  // namespace live::main_
