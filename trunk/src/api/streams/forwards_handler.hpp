// /api/v1/forwards: where streams are pushed, and how that goes.
#pragma once

#include <chrono>

#include "api/common/rows.hpp"
#include "api/common/server_info.hpp"
#include "base/time.hpp"
#include "service/forward/forward_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// A forward for the API: of /api/v1/forwards and of a stream.
inline Row forward_row(const service::forward::ForwardFacts& forward, TimePoint now) {
    return {{"to", forward.to},
            {"state", service::forward::ForwardFacts::name_of(forward.state)},
            {"since_ms", (now - forward.since) / std::chrono::milliseconds(1)},
            {"tries", forward.tries},
            {"sent_bytes", forward.sent_bytes},
            {"last_error", forward.last_error}};
}

class ForwardsHandler final : public session::http::Handler {
public:
    // Both outlive this.
    ForwardsHandler(const ServerInfo& server, const service::forward::ForwardService& forwards)
        : server_(server), forwards_(forwards) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::forward::ForwardService& forwards_;
};

}  // namespace live::api
