// /rtc/v1/publish/ and /rtc/v1/play/: exchange an offer in JSON for an answer in JSON. Every error is a 200 with code 400 and a
// sentence, as clients of these calls expect.
#pragma once

#include <cstdint>
#include <string>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"
#include "session/rtc/session_opener.hpp"

namespace live::api {

class RtcHandler final : public session::http::Handler {
public:
    // Both outlive this.
    RtcHandler(const ServerInfo& server, session::rtc::SessionOpener& opener, wire::sdp::Purpose purpose)
        : server_(server), opener_(opener), purpose_(purpose) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    Result<session::rtc::Opened> open(const session::http::Request& request, io::Deadline deadline);

    const ServerInfo& server_;
    session::rtc::SessionOpener& opener_;
    const wire::sdp::Purpose purpose_;
};

}  // namespace live::api
