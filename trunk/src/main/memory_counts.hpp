// What /api/v1/memory shows: the counters of all rooms by the names that an operator knows.
#pragma once

#include "api/memory_handler.hpp"
#include "media/slab_log.hpp"
#include "service/stats/stream_board.hpp"
#include "session/common/connection_limit.hpp"

namespace live::main_ {

class ProcessMemory final : public api::MemoryCounts {
public:
    // All outlive this. A loop exists.
    ProcessMemory(const media::SlabPool& slabs, const service::stats::StreamBoard& board, const session::ConnectionLimit& limit)
        : slabs_(slabs), board_(board), limit_(limit) {}

    std::vector<api::MemoryKind> count() const override;

private:
    const media::SlabPool& slabs_;
    const service::stats::StreamBoard& board_;
    const session::ConnectionLimit& limit_;
};

}  // namespace live::main_
