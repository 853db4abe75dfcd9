// HttpFront: everything this process answers over HTTP, wired together: the listeners of http_api, the router and the API's
// handlers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/board_handlers.hpp"
#include "api/server_handlers.hpp"
#include "api/server_info.hpp"
#include "api/system_sampler.hpp"
#include "base/log.hpp"
#include "io/scope.hpp"
#include "main/server_names.hpp"
#include "main/settings.hpp"
#include "session/common/connection_limit.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/context.hpp"
#include "session/http/router.hpp"

namespace live::main_ {

class HttpFront {
public:
    // What is referred to outlives this.
    HttpFront(const ServerNames& names, const api::ServerCounters& counters, const service::stats::StreamBoard& board,
              const api::VhostSettings& vhosts, std::vector<std::string> disks, MutBytes scratch, session::ConnectionLimit& limit,
              const Log& log);
    ~HttpFront();
    HttpFront(const HttpFront&) = delete;
    HttpFront& operator=(const HttpFront&) = delete;

    // Opens http_api's endpoints when it is enabled. Errors as TcpListener::listen.
    Result<void> listen(const Settings& settings);
    void stop(io::Deadline deadline);
    session::http::Router& router() { return router_; }
    // The "data" of /api/v1/summaries, as JSON text.
    std::string summaries() const { return api_.summaries(); }

private:
    const Log& log_;
    session::ConnectionLimit& limit_;
    api::ServerInfo info_;
    api::SystemSampler sampler_;
    api::ServerApi api_;
    api::BoardApi board_api_;
    session::http::Router router_;
    session::http::Context context_;
    io::Scope services_{"http-service"};
    io::Scope connections_{"http-connection"};
    io::Scope listeners_{"http-listener"};
    std::vector<std::unique_ptr<session::http::Acceptor>> acceptors_;
};

}  // namespace live::main_
