#include "app/wiring/memory_counts.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include "io/fibers/loop.hpp"
#include "io/tls/openssl_memory.hpp"
#include "media/source/source.hpp"

namespace live::app {

std::vector<api::MemoryKind> ProcessMemory::count() const {
    constexpr auto kSlab = media::SlabPool::kSlabBytes;
    const media::SourceTotals& media = slabs_.totals();
    const io::LoopCounters loop = io::Loop::counters();
    const auto records = stream_stats_.records();
    std::vector<api::MemoryKind> kinds = {
        {"sources", media.sources, media.sources * sizeof(media::Source)},
        {"packets", media.packets, media.packet_bytes},
        {"wire_slabs", slabs_.in_use(), slabs_.in_use() * kSlab},
        {"wire_slabs_pooled", slabs_.free(), slabs_.free() * kSlab},
        {"connections", places_.used(), places_.bytes()},
        {"rtc_half_open", places_.half_open(), std::nullopt},
        {"addresses", places_.addresses().size(), places_.addresses().bytes()},
        {"unfinished", places_.memory().uses().size(), places_.memory().bytes(session::MemoryBudget::Kind::unfinished)},
        {"windows", media.sources, places_.memory().windows()},
        {"records", records.count, records.bytes},
        {"tls_sessions", loop.tls_sessions, io::openssl_bytes()},
        {"fibers", loop.fibers, loop.fibers * loop.fiber_bytes},
        // Address space: a parked fiber has touched little of it (/api/v1/fibers).
        {"stacks", loop.stacks, loop.stacks * loop.stack_bytes},
        {"stacks_pooled", loop.stacks_pooled, loop.stacks_pooled * loop.stack_bytes},
        // Lines of the log and the access log that wait to be written.
        {"log_queues", 2, log_.counters().memory_bytes + access_log_.counters().memory_bytes},
    };
    for (const session::Protocol& protocol : protocols_)
        if (protocol.add_memory)
            protocol.add_memory(kinds);
    for (const session::Protocol& protocol : protocols_)
        for (const auto& [kind, bytes] : protocol.kinds) {
            const std::size_t count = stream_stats_.clients(kind);
            const auto all = bytes ? std::optional<std::uint64_t>(count * *bytes) : std::nullopt;
            kinds.push_back({"sessions_" + std::string(session::name_of(kind)), count, all});
        }
    return kinds;
}

}  // namespace live::app
