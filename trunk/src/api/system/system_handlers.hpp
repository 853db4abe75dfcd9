// Endpoints for single groups of system figures: resource usage of the process, /proc/self/stat, the CPUs, the memory.
#pragma once

#include <string>

#include "api/common/server_info.hpp"
#include "api/system/system_sampler.hpp"
#include "session/http/router.hpp"

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

class SystemApi {
public:
    // Both outlive this.
    SystemApi(const ServerInfo& server, const SystemSampler& sampler);
    void mount(session::http::Router& router);

private:
    FiguresHandler rusages_;
    FiguresHandler self_proc_stats_;
    FiguresHandler system_proc_stats_;
    FiguresHandler meminfos_;
};

}  // namespace live::api
