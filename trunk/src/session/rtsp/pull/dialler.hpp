// Dialler: pulls streams of cameras and other RTSP servers, for ingests.
#pragma once

#include <memory>
#include <utility>

#include "session/rtsp/pull/pull_session.hpp"

namespace live::session::rtsp {

class Dialler {
public:
    // Both outlive this.
    Dialler(Context& context, MemoryBudget& memory) : context_(context), memory_(memory) {}

    // Pulls `url` and publishes it as `request`, until the stream ends or something ends it; returns the reason.
    Result<void> pull(const wire::rtsp::PullUrl& url, ClientRequest request, const Log& log, io::Deadline deadline) {
        return std::make_unique<PullSession>(context_, memory_, std::move(request), log)->run(url, deadline);
    }

private:
    Context& context_;
    MemoryBudget& memory_;
};

}  // namespace live::session::rtsp
