// /api/v1/fibers: the coroutines, page by page: name, age, wait state, and maximum stack depth.
#pragma once

#include <cstddef>

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class FibersHandler final : public session::http::Handler {
public:
    // Limit of count=: each fiber costs a system call, and no other fiber runs meanwhile.
    static constexpr std::size_t kMost = 1000;

    // `server` outlives this.
    explicit FibersHandler(const ServerInfo& server) : server_(server) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
};

}  // namespace live::api
