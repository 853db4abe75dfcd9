// The content of /api/v1/memory: the counters of all rooms, under names for operators.
#pragma once

#include "api/debug/memory_handler.hpp"
#include "base/log/log.hpp"
#include "media/wire_log/slab_log.hpp"
#include "service/access_log/access_log.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/common/protocol.hpp"
#include "session/limits/connection_limits.hpp"

namespace live::app {

class ProcessMemory final : public api::MemoryCounts {
public:
    // Everything referred to must outlive this. Requires a loop.
    ProcessMemory(const media::SlabPool& slabs, const service::stats::StreamStats& stream_stats,
                  const session::ConnectionLimits& places, const session::Protocols& protocols, const Log& log,
                  const service::access_log::AccessLog& access_log)
        : slabs_(slabs),
          stream_stats_(stream_stats),
          places_(places),
          protocols_(protocols),
          log_(log),
          access_log_(access_log) {}

    std::vector<api::MemoryKind> count() const override;

private:
    const media::SlabPool& slabs_;
    const service::stats::StreamStats& stream_stats_;
    const session::ConnectionLimits& places_;
    const session::Protocols& protocols_;
    const Log& log_;
    const service::access_log::AccessLog& access_log_;
};

}  // namespace live::app
