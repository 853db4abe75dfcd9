#include "api/streams/snapshot_handler.hpp"

#include <string>
#include <string_view>

#include "api/common/envelope.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/http/status.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::api {

using session::http::error_reply;
using session::http::Reply;
using session::http::Request;

namespace {

using wire::http::Status;
constexpr std::string_view kEnding = ".jpg";

int status_of(Errc code) {
    switch (code) {
        case Errc::not_found: return Status::not_found;
        case Errc::unsupported: return Status::unsupported_media_type;
        case Errc::limit:
        case Errc::timed_out:
        case Errc::cancelled: return Status::service_unavailable;
        default: return Status::internal_server_error;
    }
}

// Makes the request of a player. `names`: APP/STREAM.
session::ClientRequest player_request(const Request& request, std::string_view vhost, std::string_view names) {
    session::ClientRequest made;
    made.kind = session::ClientKind::flv_play;
    made.protocol = "http-flv";
    made.id = request.id;
    made.ip = request.client_ip();
    made.peer_ip = request.peer_ip;
    made.peer = request.peer;
    made.vhost = vhost;
    made.app = names.substr(0, names.rfind('/'));
    made.stream = names.substr(names.rfind('/') + 1);
    made.param = request.target.raw_query.empty() ? std::string() : "?" + request.target.raw_query;
    made.tc_url = "rtmp://" + made.vhost + "/" + made.app;
    return made;
}

}  // namespace

Reply SnapshotHandler::handle(const Request& request, io::Deadline deadline) {
    std::string_view name = request.path();
    name.remove_prefix(std::string_view(kPath).size());
    if (!name.ends_with(kEnding) || name.find('/') == std::string_view::npos)
        return error_reply(Status::not_found, "ask for /api/v1/snapshot/APP/STREAM.jpg");
    name.remove_suffix(kEnding.size());
    const std::string_view vhost = request.target.query.get("vhost");
    const bool is_default = vhost.empty() || vhost == wire::rtmp::kDefaultVhost;
    const auto wanted = player_request(request, is_default ? wire::rtmp::kDefaultVhost : vhost, name);
    if (!wire::rtmp::admit_vhost(wanted.vhost).ok() || !wire::rtmp::admit_name(wanted.app).ok() ||
        !wire::rtmp::admit_name(wanted.stream).ok())
        return error_reply(Status::not_found, "this is no name of a stream");
    if (const auto fetched = fetcher_.fetch(wanted, deadline); !fetched.ok())
        return error_reply(status_of(fetched.code()), fetched.error().sentence());
    const auto picture = snapshots_.take((is_default ? std::string() : std::string(vhost)) + "/" + std::string(name), deadline);
    if (!picture.ok())
        return error_reply(status_of(picture.code()), picture.error().sentence());
    return {Status::ok, "image/jpeg", std::string(as_text(**picture)), {{"Cache-Control", "no-cache"}}};
}

}  // namespace live::api
