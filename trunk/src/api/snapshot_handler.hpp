// /api/v1/snapshot/APP/STREAM.jpg: the newest key frame of a stream as a JPEG; ?vhost= selects another virtual host.
#pragma once

#include "service/snapshot/snapshot_service.hpp"
#include "session/http/router.hpp"

namespace live::api {

class SnapshotHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/snapshot/";

    // `snapshots` outlives this.
    explicit SnapshotHandler(service::snapshot::SnapshotService& snapshots) : snapshots_(snapshots) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    service::snapshot::SnapshotService& snapshots_;
};

}  // namespace live::api
