// /api/v1/transcodes: the ladders and engines that encode published streams, with the progress of their ffmpeg processes.
#pragma once

#include "api/common/server_info.hpp"
#include "service/engines/engine_service.hpp"
#include "service/ladder/ladder_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class TranscodesHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/transcodes";

    // All outlive this.
    TranscodesHandler(const ServerInfo& server, const service::ladder::LadderService& ladders,
                      const service::engines::EngineService& engines)
        : server_(server), ladders_(ladders), engines_(engines) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::ladder::LadderService& ladders_;
    const service::engines::EngineService& engines_;
};

}  // namespace live::api
