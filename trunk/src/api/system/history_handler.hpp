// /api/v1/history: the last hour of the server, or with stream=[vhost]/app/stream that of a stream, with its newest events and
// its health; since=TIME selects the points after that time. The handler of each worker answers for its own clients.
#pragma once

#include "api/common/server_info.hpp"
#include "api/system/machine_record.hpp"
#include "service/stats/stream_stats.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class HistoryHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/history";

    // All outlive this.
    HistoryHandler(const ServerInfo& server, const service::stats::StreamStats& stream_stats, const MachineRecord& machine)
        : server_(server), stream_stats_(stream_stats), machine_(machine) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    const ServerInfo& server_;
    const service::stats::StreamStats& stream_stats_;
    const MachineRecord& machine_;
};

}  // namespace live::api
