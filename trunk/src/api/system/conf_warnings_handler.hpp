// /api/v1/configs/warnings: the warnings about the settings in use, as the log and `-t` report them.
#pragma once

#include <string>
#include <vector>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class ConfWarningsHandler final : public session::http::Handler {
public:
    // Both outlive this; `warnings` changes with a reload.
    ConfWarningsHandler(const ServerInfo& server, const std::vector<std::string>& warnings)
        : server_(server), warnings_(warnings) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const std::vector<std::string>& warnings_;
};

}  // namespace live::api
