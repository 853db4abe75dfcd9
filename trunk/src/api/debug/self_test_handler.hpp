// /api/v1/doctor/NAME: tests whether clients reach the ports of a protocol, and reports problems.
#pragma once

#include "api/common/server_info.hpp"
#include "session/common/protocol.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class SelfTestHandler final : public session::http::Handler {
public:
    // Both must outlive this. `protocols` may be filled later.
    SelfTestHandler(const ServerInfo& server, const session::Protocols& protocols) : server_(server), protocols_(protocols) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const session::Protocols& protocols_;
};

}  // namespace live::api
