// /api/v1/doctor/srt: tests SRT against this server and reports problems.
#pragma once

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"
#include "session/srt/doctor.hpp"

namespace live::api {

class SrtDoctorHandler final : public session::http::Handler {
public:
    // Both outlive this.
    SrtDoctorHandler(const ServerInfo& server, session::srt::Doctor& doctor) : server_(server), doctor_(doctor) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    session::srt::Doctor& doctor_;
};

}  // namespace live::api
