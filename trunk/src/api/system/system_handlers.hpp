// Endpoints for single groups of system figures: resource usage of the process, /proc/self/stat, the CPUs, the memory.
#pragma once

#include <string>

#include "api/common/endpoints.hpp"
#include "api/common/server_info.hpp"
#include "api/system/system_sampler.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// A "data" made from the newest figures; accepts any method.
class FiguresHandler final : public session::http::Handler {
public:
    using Write = std::string (*)(const SystemFigures&);  // JSON text

    FiguresHandler(const ServerInfo& server, const SystemSampler& sampler, Write write)
        : server_(server), sampler_(sampler), write_(write) {}
    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const SystemSampler& sampler_;
    Write write_;
};

// `sampler` outlives the endpoints.
void add_system(Endpoints& endpoints, const SystemSampler& sampler);

}  // namespace live::api
