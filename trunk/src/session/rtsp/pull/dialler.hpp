// Dialler: pulls streams of cameras and other RTSP servers, for ingests.
#pragma once

#include <utility>

#include "session/common/traffic.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/rtsp/pull/media_ports.hpp"
#include "session/rtsp/pull/pull_connection.hpp"
#include "session/rtsp/pull/pull_options.hpp"

namespace live::session::rtsp {

class Dialler {
public:
    // Everything referred to outlives this. `own_endpoints`: where this server listens for RTSP.
    Dialler(Context& context, MemoryBudget& memory, PullConnection::OwnEndpoints own_endpoints)
        : context_(context), memory_(memory), own_endpoints_(std::move(own_endpoints)) {}

    // Pulls `url` and publishes it as `request`, until the stream ends or something ends it; returns the reason. Notes in the
    // options whether UDP works.
    Result<void> pull(const wire::rtsp::PullUrl& url, PullOptions& options, ClientRequest request, const Log& log,
                      const OnPulling& on_pulling, io::Deadline deadline);

private:
    Context& context_;
    MemoryBudget& memory_;
    const PullConnection::OwnEndpoints own_endpoints_;
    MediaPorts::Inbox inbox_;
};

}  // namespace live::session::rtsp
