#include "api/streams/snapshot_handler.hpp"

#include "api/streams/snapshot_path.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

namespace {

using wire::http::Status;

session::ClientRequest player_request(const Request& request, const SnapshotPath& path) {
    session::ClientRequest made;
    made.kind = session::ClientKind::flv_play;
    made.protocol = "http-flv";
    made.id = request.id;
    made.ip = request.client_ip();
    made.peer_ip = request.peer_ip;
    made.peer = request.peer;
    made.vhost = path.vhost;
    made.app = path.app;
    made.stream = path.stream;
    made.param = request.target.raw_query.empty() ? std::string() : "?" + request.target.raw_query;
    made.tc_url = "rtmp://" + made.vhost + "/" + made.app;
    return made;
}

}  // namespace

Reply SnapshotHandler::handle(const Request& request, io::Deadline deadline) {
    const auto path = SnapshotPath::of(request, kPath);
    if (!path.ok())
        return error_reply(Status::not_found, path.error().sentence());
    if (const auto fetched = fetcher_.fetch(player_request(request, *path), deadline); !fetched.ok())
        return error_reply(snapshot_status(fetched.code()), fetched.error().sentence());
    const auto picture = snapshots_.take(path->url, deadline);
    if (!picture.ok())
        return error_reply(snapshot_status(picture.code()), picture.error().sentence());
    return snapshot_reply(as_text(**picture), "no-cache");
}

}  // namespace live::api
