#include "main/memory_counts.hpp"

#include <optional>
#include <string>

#include "io/loop.hpp"
#include "media/source.hpp"
#include "session/common/client_kind.hpp"

namespace live::main_ {

std::vector<api::MemoryKind> ProcessMemory::count() const {
    constexpr auto kSlab = media::SlabPool::kSlabBytes;
    const media::SourceTotals& media = slabs_.totals();
    const io::LoopCounters loop = io::Loop::counters();
    std::vector<api::MemoryKind> kinds = {
        {"sources", media.sources, media.sources * sizeof(media::Source)},
        {"packets", media.packets, media.packet_bytes},
        {"wire_slabs", slabs_.in_use(), slabs_.in_use() * kSlab},
        {"wire_slabs_pooled", slabs_.free(), slabs_.free() * kSlab},
        {"connections", limit_.used(), std::nullopt},
        {"tls_sessions", loop.tls_sessions, std::nullopt},
        {"fibers", loop.fibers, std::nullopt},
        // Address space: a parked fiber has touched little of it (/api/v1/fibers).
        {"stacks", loop.stacks, loop.stacks * loop.stack_bytes},
        {"stacks_pooled", loop.stacks_pooled, loop.stacks_pooled * loop.stack_bytes},
    };
    for (std::size_t i = 0; i < session::kClientKinds; ++i) {
        const auto kind = static_cast<session::ClientKind>(i);
        if (kind != session::ClientKind::unknown)
            kinds.push_back({"sessions_" + std::string(session::name_of(kind)), board_.clients(kind), std::nullopt});
    }
    return kinds;
}

}  // namespace live::main_
