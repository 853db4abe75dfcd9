#include "api/streams/thumbnail_handler.hpp"

#include <utility>

#include "api/streams/snapshot_path.hpp"
#include "base/bytes/bytes.hpp"
#include "wire/http/status.hpp"

namespace live::api {

using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

constexpr std::string_view kCacheControl = "private, max-age=10";
constexpr std::string_view kMissing = "there is no thumbnail of this stream";

}  // namespace

Reply ThumbnailHandler::own(const std::string& url, io::Deadline deadline) const {
    const auto picture = snapshots_.take(url, deadline);
    return picture.ok() ? snapshot_reply(as_text(**picture), kCacheControl)
                        : error_reply(snapshot_status(picture.code()), picture.error().sentence());
}

Reply ThumbnailHandler::of_others(const Request& request, io::Deadline deadline) const {
    for (const auto worker : workers_->everybody_else()) {
        service::http_client::HttpCall call;
        call.method = "GET";
        call.url = "http://worker" + request.message.target;
        call.answer_bytes_max = kBytesMax;
        const auto answer =
            workers_->ask(static_cast<engine::workers::Worker>(worker), call, deadline.sooner(io::Deadline::after(kAnswerLimit)));
        if (answer.ok() && answer->status == Status::ok)
            return snapshot_reply(answer->body, kCacheControl);
    }
    return error_reply(Status::not_found, kMissing);
}

Reply ThumbnailHandler::handle(const Request& request, io::Deadline deadline) {
    const auto path = SnapshotPath::of(request, kPath);
    if (!path.ok())
        return error_reply(Status::not_found, path.error().sentence());
    if (request.is_sibling)  // the other worker has checked the rules
        return own(path->url, deadline);
    const auto view = settings_.is_enabled() ? settings_.view(request) : nullptr;
    if (view == nullptr || !view->shows(path->vhost))
        return error_reply(Status::not_found, kMissing);
    Reply reply = own(path->url, deadline);
    if (reply.status == Status::not_found && workers_ != nullptr && workers_->is_on())
        return of_others(request, deadline);
    return reply;
}

}  // namespace live::api
