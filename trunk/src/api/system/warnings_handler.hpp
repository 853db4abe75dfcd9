// /api/v1/warnings: the newest warnings and errors of the log.
#pragma once

#include "api/common/server_info.hpp"
#include "base/log/log.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class WarningsHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/warnings";

    // Both outlive this.
    WarningsHandler(const ServerInfo& server, const Log& log) : server_(server), log_(log) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const Log& log_;
};

}  // namespace live::api
