// /api/v1/snapshot/APP/STREAM.jpg: the newest key frame of a stream as a JPEG; ?vhost= selects another virtual host. An edge
// pulls the stream for it, as for a player.
#pragma once

#include "service/snapshot/snapshot_service.hpp"
#include "session/common/admission.hpp"
#include "session/http/handler.hpp"

namespace live::api {

// app implements it.
class StreamFetcher {
public:
    virtual ~StreamFetcher() = default;
    // Returns when this node has the stream, pulled from another one if that is what it does for a player, or when there is
    // nothing to wait for. No callback is asked. Errc::not_found and others as session::Admission::pull().
    virtual Result<void> fetch(const session::ClientRequest& request, io::Deadline deadline) = 0;
};

class SnapshotHandler final : public session::http::Handler {
public:
    static constexpr const char* kPath = "/api/v1/snapshot/";

    // Both outlive this.
    SnapshotHandler(service::snapshot::SnapshotService& snapshots, StreamFetcher& fetcher)
        : snapshots_(snapshots), fetcher_(fetcher) {}

    session::http::Reply handle(const session::http::Request& request, io::Deadline deadline) override;

private:
    service::snapshot::SnapshotService& snapshots_;
    StreamFetcher& fetcher_;
};

}  // namespace live::api
