#include "service/dash/dash_handler.hpp"

#include <string>
#include <utility>
#include <vector>

#include "io/loop.hpp"
#include "service/files/normal_path.hpp"
#include "service/segments/send_file.hpp"
#include "session/http/mime.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/status.hpp"

namespace live::service::dash {

namespace http = session::http;

namespace {

using wire::http::Status;
constexpr std::string_view kMpdEnding = ".mpd";

}  // namespace

DashHandler::Found DashHandler::find(const http::Request& request) const {
    const auto place = roots_.find(request);
    if (!place)
        return {};
    Found found{store_.find(files::normal_path(place->folder, place->path))};
    found.is_others = found.file != nullptr && !place->vhost.empty() && place->vhost != found.file->stream()->vhost;
    return found;
}

// A request with vhost= gets the MPD, but segment URLs lack that parameter: a player with a session may load them.
bool DashHandler::may_have(const http::Request& request, const Found& found, bool is_mpd) const {
    return found.file != nullptr && (!found.is_others || (!is_mpd && viewers_.knows(request, *found.file->stream())));
}

Result<void> DashHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "DASH is played with GET"), deadline);
    const Found found = find(request);
    const bool is_mpd = request.path().ends_with(kMpdEnding);
    if (!may_have(request, found, is_mpd))
        return exchange.send(http::error_reply(Status::not_found, "there is no such file"), deadline);
    const segments::FileRef& file = found.file;
    const auto admitted = is_mpd ? viewers_.admit(request, *file->stream(), deadline) : viewers_.touch(request, *file->stream());
    if (!admitted.ok()) {
        if (admitted.code() == Errc::cancelled)
            return admitted;
        const int status = session::http::status_for(admitted.code());
        return exchange.send(http::error_reply(status, admitted.error().sentence()), deadline);
    }
    if (!request.is_head())
        file->stream()->asked_at = io::now();
    if (!file->is_whole())
        return send_growing(exchange, *file, deadline);
    std::vector<std::pair<std::string, std::string>> headers;
    if (is_mpd)
        headers.emplace_back("Cache-Control", "no-cache");
    if (!request.is_head())
        viewers_.add_sent(request, *file->stream(), file->bytes());
    return segments::send_file(exchange, *file, std::move(headers), deadline);
}

Result<void> DashHandler::send_growing(http::Exchange& exchange, segments::File& file, io::Deadline deadline) {
    // HEAD is answered from what is available.
    const auto until = deadline.sooner(io::Deadline::after(kWaitMax));
    const auto first = exchange.request().is_head() ? Result<void>() : segments::wait_for_more(file, 0, until);
    if (!first.ok() && first.code() != Errc::timed_out)
        return first;
    if (file.blocks().empty())
        return exchange.send(http::error_reply(Status::not_found, "this fragment has not come to be"), deadline);
    const auto count = [this, &exchange, &file](std::size_t bytes) {
        viewers_.add_sent(exchange.request(), *file.stream(), bytes);
    };
    return segments::send_growing(exchange, file, kWaitMax, count, deadline);
}

}  // namespace live::service::dash
