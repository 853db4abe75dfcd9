// RtcFront: everything this process does by WebRTC, wired together: the port, the gate, and the calls of the HTTP API that open
// and close sessions. What a virtual host allows comes from the settings.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/doctor_handler.hpp"
#include "api/rtc_handler.hpp"
#include "base/log.hpp"
#include "io/scope.hpp"
#include "main/http_front.hpp"
#include "main/settings.hpp"
#include "main/settings_admission.hpp"
#include "session/common/traffic.hpp"
#include "session/rtc/context.hpp"
#include "session/rtc/doctor.hpp"
#include "session/rtc/gate.hpp"
#include "session/rtc/tcp_port.hpp"
#include "session/rtc/whip_handler.hpp"

namespace live::main_ {

class RtcFront final : private session::rtc::RtcVhosts {
public:
    struct Shared {
        media::StreamTable& streams;
        SettingsAdmission& admission;
        session::StreamEvents& events;
        session::ClientTable& clients;
        session::ConnectionLimit& limit;
        MutBytes scratch;
    };

    // `settings` outlives this, or is replaced by set_settings() before it goes; so does what is shared.
    RtcFront(const Settings& settings, const Shared& shared, const Log& log);
    ~RtcFront() override;
    RtcFront(const RtcFront&) = delete;
    RtcFront& operator=(const RtcFront&) = delete;

    void set_settings(const Settings& settings) { settings_ = &settings; }
    // Listens and answers, if the settings say so. Before HttpFront::listen(). Errors as UdpSocket::bind.
    Result<void> start(HttpFront& http);
    // Ends every session.
    void stop(io::Deadline deadline);
    session::Traffic traffic() const;

private:
    Result<void> listen_udp();
    Result<void> listen_tcp();
    void mount(HttpFront& http, const std::string& name, session::http::Handler& handler);

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

}  // namespace live::main_
