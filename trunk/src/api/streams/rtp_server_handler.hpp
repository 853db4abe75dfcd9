// /index/api/openRtpServer, connectRtpServer, closeRtpServer and listRtpServer: the calls by which platforms written for
// ZLMediaKit open GB28181 sessions, over the same sessions as /gb/v1/publish/. Every answer is a 200 with a code, as these
// platforms expect; every call needs the secret of the settings. Parameters are in the query, a form or JSON.
#pragma once

#include <string>

#include "session/gb28181/directory.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class RtpServerHandler final : public session::http::Handler {
public:
    // The codes of these calls.
    static constexpr int kFailed = -1;
    static constexpr int kDenied = -100;
    static constexpr int kInvalid = -300;

    // `directory` outlives this. Without a secret everything is denied.
    RtpServerHandler(session::gb28181::Directory& directory, std::string secret)
        : directory_(directory), secret_(std::move(secret)) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    session::gb28181::Directory& directory_;
    const std::string secret_;
};

}  // namespace live::api
