// /gb/v1/publish/ and /gb/v1/sessions: an external SIP server opens, lists and closes the sessions of GB28181 devices. Every
// error of POST is a 200 with a code, as clients of this call expect.
#pragma once

#include "api/common/server_info.hpp"
#include "session/gb28181/directory.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class GbPublishHandler final : public session::http::Handler {
public:
    // The id or the SSRC is in use; as for a stream that is published already.
    static constexpr int kSessionTaken = 1028;
    // The body is no request.
    static constexpr int kRequestInvalid = 4006;
    // The session could not be made: too many, or no port.
    static constexpr int kNoSession = 4046;

    // Both outlive this.
    GbPublishHandler(const ServerInfo& server, session::gb28181::Directory& directory) : server_(server), directory_(directory) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    session::http::Reply open(const session::http::Request& request);
    session::http::Reply close(const session::http::Request& request);

    const ServerInfo& server_;
    session::gb28181::Directory& directory_;
};

class GbSessionsHandler final : public session::http::Handler {
public:
    // Both outlive this.
    GbSessionsHandler(const ServerInfo& server, session::gb28181::Directory& directory)
        : server_(server), directory_(directory) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    session::gb28181::Directory& directory_;
};

}  // namespace live::api
