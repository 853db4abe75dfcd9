// /api/v1/dvrs: running recordings, and those that failed since their stream was last published.
#pragma once

#include "api/common/server_info.hpp"
#include "service/dvr/dvr_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class DvrsHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/dvrs";

    // Both outlive this.
    DvrsHandler(const ServerInfo& server, const service::dvr::DvrService& recordings)
        : server_(server), recordings_(recordings) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::dvr::DvrService& recordings_;
};

}  // namespace live::api
