#include "api/streams/snapshot_path.hpp"

#include "wire/http/status.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::api {

using session::http::Reply;
using session::http::Request;
using wire::http::Status;

Result<SnapshotPath> SnapshotPath::of(const Request& request, std::string_view folder) {
    constexpr std::string_view kEnding = ".jpg";
    std::string_view name = request.path();
    name.remove_prefix(std::min(folder.size(), name.size()));
    if (!name.ends_with(kEnding) || name.find('/') == std::string_view::npos)
        return Error(Errc::not_found, "ask for " + std::string(folder) + "APP/STREAM.jpg");
    name.remove_suffix(kEnding.size());
    const std::string_view vhost = request.target.query.get("vhost");
    const bool is_default = vhost.empty() || vhost == wire::rtmp::kDefaultVhost;
    SnapshotPath path;
    path.vhost = is_default ? wire::rtmp::kDefaultVhost : vhost;
    path.app = name.substr(0, name.rfind('/'));
    path.stream = name.substr(name.rfind('/') + 1);
    path.url = (is_default ? std::string() : std::string(vhost)) + "/" + std::string(name);
    if (!wire::rtmp::admit_vhost(path.vhost).ok() || !wire::rtmp::admit_name(path.app).ok() ||
        !wire::rtmp::admit_name(path.stream).ok())
        return Error(Errc::not_found, "this is no name of a stream");
    return path;
}

int snapshot_status(Errc code) {
    switch (code) {
        case Errc::denied: return Status::forbidden;
        case Errc::not_found: return Status::not_found;
        case Errc::unsupported: return Status::unsupported_media_type;
        case Errc::limit:
        case Errc::timed_out:
        case Errc::cancelled: return Status::service_unavailable;
        default: return Status::internal_server_error;
    }
}

Reply snapshot_reply(std::string_view picture, std::string_view cache_control) {
    return {Status::ok, "image/jpeg", std::string(picture), {{"Cache-Control", std::string(cache_control)}}};
}

}  // namespace live::api
