// /api/v1/memory: counts of live objects in the process. ?mark=1 remembers the counts, ?since=mark also shows their growth since
// then: finds leaks without attaching a tool.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/common/server_info.hpp"
#include "base/time.hpp"
#include "session/common/protocol.hpp"
#include "session/http/handler.hpp"

namespace live::api {

using session::MemoryKind;

// app implements it.
class MemoryCounts {
public:
    virtual ~MemoryCounts() = default;
    // Always the same kinds in the same order. Must not suspend.
    virtual std::vector<MemoryKind> count() const = 0;
};

class MemoryHandler final : public session::http::Handler {
public:
    // Both outlive this.
    MemoryHandler(const ServerInfo& server, const MemoryCounts& counts) : server_(server), counts_(counts) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    struct Mark {
        TimePoint when;
        std::vector<MemoryKind> kinds;
    };

    const ServerInfo& server_;
    const MemoryCounts& counts_;
    std::optional<Mark> mark_;
};

}  // namespace live::api
