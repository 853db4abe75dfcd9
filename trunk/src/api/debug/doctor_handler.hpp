// /api/v1/doctor/rtc: tests WebRTC against this server and reports problems.
#pragma once

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"
#include "session/rtc/doctor.hpp"

namespace live::api {

class DoctorHandler final : public session::http::Handler {
public:
    // `doctor` is nullptr without a WebRTC server. Both outlive this.
    DoctorHandler(const ServerInfo& server, session::rtc::Doctor* doctor) : server_(server), doctor_(doctor) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    session::rtc::Doctor* doctor_;
};

}  // namespace live::api
