// /api/v1/fault?kind=leak|overflow|use_after_free|stack_overflow|uninitialised: makes a deliberate fault, so that the tests of
// the memory tools see it reported from inside a running server. Only in builds with `configure --simulator=on`.
#pragma once

#include "api/common/server_info.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class FaultHandler final : public session::http::Handler {
public:
    // `server` outlives this.
    explicit FaultHandler(const ServerInfo& server) : server_(server) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;
    // Reports whether this build has it: the source is compiled in two forms, this header in one.
    static bool is_built();

private:
    const ServerInfo& server_;
};

}  // namespace live::api
