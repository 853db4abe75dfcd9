#include "session/rtsp/stream_request.hpp"

#include <algorithm>

#include "wire/http/target.hpp"
#include "wire/rtsp/message.hpp"

namespace live::session::rtsp {

namespace status = wire::rtsp::status;

Result<wire::rtmp::StreamUrl> stream_of(std::string_view url) {
    // Behind a query, a slash belongs to a value.
    const std::size_t query = std::min(url.find('?'), url.size());
    std::string_view path = url.substr(0, query);
    while (path.ends_with('/'))
        path.remove_suffix(1);
    const std::size_t slash = path.rfind('/');
    // "rtsp://host" and "rtsp://host/stream" name no app and stream.
    if (slash == std::string_view::npos || std::ranges::count(path, '/') < 4)
        return Error(Errc::denied, "the URL must be rtsp://HOST/APP/STREAM");
    const std::string name = std::string(path.substr(slash + 1)).append(url.substr(query));
    auto stream = TRY(wire::rtmp::parse_stream_url(path.substr(0, slash), name));
    TRY(wire::rtmp::admit(stream));
    return stream;
}

Result<std::string> rendition_of(std::string_view param) {
    if (param.starts_with('?'))
        param.remove_prefix(1);
    const auto query = TRY(wire::http::Query::parse(param));
    return std::string(query.get("rendition"));
}

int status_for(Errc code) {
    switch (code) {
        case Errc::not_found:
        case Errc::timed_out: return status::kNotFound;
        case Errc::unauthenticated: return status::kUnauthorized;
        case Errc::denied:
        case Errc::conflict: return status::kForbidden;
        case Errc::malformed: return status::kBadRequest;
        case Errc::unsupported: return status::kUnsupportedMedia;
        case Errc::limit: return status::kUnavailable;
        default: return status::kInternal;
    }
}

}  // namespace live::session::rtsp
