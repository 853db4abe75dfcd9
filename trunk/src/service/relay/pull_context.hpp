// PullContext: the parts of this server that all pulls and pushes share, and their totals for the metrics.
#pragma once

#include <cstdint>
#include <functional>

#include "base/options_of.hpp"
#include "media/source/stream_table.hpp"
#include "service/relay/options.hpp"
#include "service/relay/upstream/upstream_request.hpp"
#include "service/rtmp_client/dial.hpp"
#include "service/tracing/tracer.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/limits/memory_budget.hpp"
#include "session/srt/call/dialler.hpp"

namespace live::service::relay {

// Referenced objects must outlive all pulls.
struct PullContext {
    rtmp_client::DialContext dial;
    media::StreamTable& streams;
    session::StreamEvents& events;
    session::ClientTable& clients;
    const OptionsOf<ClusterOptions>& options;
    Node node;
    // Reports whether other processes of this server may have the stream, as during an upgrade.
    std::function<bool()> has_siblings{};
    // nullptr: unlimited.
    const session::MemoryBudget* memory = nullptr;
    // Empty: SRT origins are refused.
    std::function<session::srt::Dialler&()> srt{};
    // nullptr: no traces.
    tracing::Tracer* tracer = nullptr;

    bool is_short_of_memory() const { return memory != nullptr && memory->is_tight(); }
};

// Totals over all pulls since startup.
struct PullTotals {
    std::uint64_t pulls = 0;
    std::uint64_t connections = 0;
    std::uint64_t failovers = 0;  // a pull that had media continued on another connection
};

}  // namespace live::service::relay
