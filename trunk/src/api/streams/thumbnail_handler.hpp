// /api/v1/thumbnail/APP/STREAM.jpg on the streaming ports: a small snapshot of a stream for pages; ?vhost= selects another
// virtual host. Only of streams that /streams.json shows to this client. It never pulls a stream: with several workers, the one
// that has the stream answers.
#pragma once

#include <chrono>
#include <string>

#include "api/streams/stream_list_handler.hpp"
#include "service/snapshot/snapshot_service.hpp"
#include "service/workers/worker_service.hpp"
#include "session/http/handler.hpp"

namespace live::api {

class ThumbnailHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/thumbnail/";
    static constexpr std::size_t kBytesMax = 1 << 20;
    static constexpr std::chrono::seconds kAnswerLimit{5};

    // All outlive this. nullptr: there are no workers.
    ThumbnailHandler(service::snapshot::SnapshotService& snapshots, const StreamListSettings& settings,
                     service::workers::WorkerService* workers)
        : snapshots_(snapshots), settings_(settings), workers_(workers) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    session::http::Reply own(const std::string& url, io::Deadline deadline) const;
    session::http::Reply of_others(const session::http::Request& request, io::Deadline deadline) const;

    service::snapshot::SnapshotService& snapshots_;
    const StreamListSettings& settings_;
    service::workers::WorkerService* const workers_;
};

}  // namespace live::api
