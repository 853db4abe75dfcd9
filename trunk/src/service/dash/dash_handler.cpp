#include "service/dash/dash_handler.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/text/normal_path.hpp"
#include "base/text/utc_text.hpp"
#include "io/fibers/loop.hpp"
#include "io/files/file.hpp"
#include "service/dash/mpd.hpp"
#include "service/dash/mpd_reader.hpp"
#include "service/files/stream_name.hpp"
#include "service/segments/send_file.hpp"
#include "session/http/client.hpp"
#include "session/http/mime.hpp"
#include "session/http/redirect.hpp"
#include "session/http/status_for.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::dash {

namespace http = session::http;

namespace {

using wire::http::Status;
constexpr std::string_view kMpdEnding = ".mpd";

using Elsewhere = std::optional<session::Redirect>;

bool is_segment(const http::Request& request) {
    const std::string_view path = request.path();
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.starts_with("audio-") || name.starts_with("video-");
}

// Segment requests are never redirected: they reach the node of their MPD.
Result<Elsewhere> without_redirect(const Result<void>& allowed) {
    if (!allowed.ok())
        return allowed.error();
    return Elsewhere();
}

// Redirects the player to the node that serves it, or reports the error.
Result<void> send_redirect_or_error(http::Exchange& exchange, const Result<Elsewhere>& admitted, const std::string& vhost,
                                    io::Deadline deadline) {
    if (admitted.ok())
        return exchange.send(http::redirect_reply(exchange.request(), (*admitted)->http, vhost, (*admitted)->mark), deadline);
    if (admitted.code() == Errc::cancelled)
        return admitted.error();
    return exchange.send(session::http::refusal_of(admitted.error()), deadline);
}

}  // namespace

// An earlier process has left segments on the disk. Another worker may have the segment in progress.
bool DashHandler::may_be_elsewhere(const http::Request& request) const {
    const DashOptions* options = options_.find(request.vhost());
    const std::string& path = request.path();
    return remote_files_ != nullptr && !request.is_sibling && options != nullptr && options->enabled &&
           (path.ends_with(".m4s") || path.ends_with(".mp4")) && is_segment(request) &&
           !stream_of_segment(request).stream.empty();
}

bool DashHandler::is_time(const http::Request& request) const {
    const DashOptions* options = options_.find(request.vhost());
    return options != nullptr && options->enabled && request.path().ends_with("/" + std::string(kTimeFile));
}

bool DashHandler::takes(const http::Request& request) const {
    return is_time(request) || find(request).file != nullptr || stream_of_mpd(request).has_value() || may_be_elsewhere(request);
}

// The access rules of the virtual host apply.
Result<bool> DashHandler::send_from_another_worker(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!may_be_elsewhere(request))
        return false;
    if (const auto allowed = viewers_.touch(request, stream_of_segment(request), deadline); !allowed.ok())
        return allowed.code() == Errc::cancelled ? Result<bool>(allowed.error()) : false;
    return TRY(remote_files_->answer(exchange, nullptr, deadline)).has_value();
}

// Reports whether several workers share the stream and none has its publisher.
Result<bool> DashHandler::is_unpublished(const http::Request& request, const segments::StreamOfFiles& stream,
                                         io::Deadline deadline) {
    const auto player = http::client_of(request, session::ClientKind::hls_play, stream.vhost, stream.app, stream.stream);
    return remote_files_->shares(player) && !TRY(remote_files_->publishes(player, deadline));
}

// Serves a file that is not in memory: from the disk, or from another worker.
Result<void> DashHandler::serve_unknown(http::Exchange& exchange, io::Deadline deadline) {
    const auto root = roots_.find(exchange.request());
    const bool is_left = root && io::File::open_below(root->folder, root->path, deadline).ok();
    if (!is_left && TRY(send_from_another_worker(exchange, deadline)))
        return {};
    // `files_` checks the session of the player, which may be a guest here.
    if (const auto stream = stream_of_segment(exchange.request()); is_left)
        if (const auto known = viewers_.touch(exchange.request(), stream, deadline);
            !known.ok() && known.code() == Errc::cancelled)
            return known;
    return files_.serve(exchange, deadline);
}

// Serves an MPD of an earlier process, with a session as for other MPDs. The rules are checked first, as for missing MPDs.
Result<void> DashHandler::serve_previous_mpd(http::Exchange& exchange, const segments::StreamOfFiles& stream,
                                             io::Deadline deadline) {
    const http::Request& request = exchange.request();
    const auto root = roots_.find(request);
    const bool is_left =
        root && roots_.check(request, *root, deadline).ok() && io::File::open_below(root->folder, root->path, deadline).ok();
    if (is_left)
        if (const auto admitted = viewers_.admit(request, stream, deadline); !admitted.ok() || *admitted)
            return send_redirect_or_error(exchange, admitted, stream.vhost, deadline);
    const std::string query = is_left ? query_of_segments(request, stream) : std::string();
    return query.empty() ? files_.serve(exchange, deadline) : send_left_mpd(exchange, *root, query, deadline);
}

Result<void> DashHandler::send_left_mpd(http::Exchange& exchange, const http::FilePlace& place, const std::string& query,
                                        io::Deadline deadline) {
    const auto file = io::File::open_below(place.folder, place.path, deadline);
    if (!file.ok() || file->facts().is_folder || file->facts().size > kMpdBytesMax)
        return exchange.send(http::error_reply(Status::not_found, "there is no such file"), deadline);
    const auto bytes = TRY(file->read(0, static_cast<std::size_t>(file->facts().size), deadline));
    return exchange.send({.content_type = std::string(http::mime_of(kMpdEnding)),
                          .body = with_query(as_text(bytes), query),
                          .headers = {{"Cache-Control", "no-cache"}}},
                         deadline);
}

// An MPD of another worker has the virtual host in its URLs.
files::RemoteFileSource::Edit DashHandler::edit_for(const http::Request& request, const segments::StreamOfFiles& stream) const {
    std::string query = viewers_.query_for(request, stream);
    if (query.empty())
        return nullptr;
    return [query = std::move(query)](std::string_view mpd) { return with_query(mpd, query); };
}

std::string DashHandler::query_of_segments(const http::Request& request, const segments::StreamOfFiles& stream) const {
    std::string query = request.is_sibling ? std::string() : viewers_.query_for(request, stream);
    if (const std::string vhost = request.vhost(); vhost != request.host())
        query = "vhost=" + wire::http::percent_encode(vhost) + (query.empty() ? "" : "&") + query;
    return query;
}

// An MPD that began in the middle of the stream lacks segments that the publisher's worker lists.
Result<bool> DashHandler::send_from_publisher(http::Exchange& exchange, const segments::StreamOfFilesRef& stream,
                                              io::Deadline deadline) {
    if (remote_files_ == nullptr || exchange.request().is_sibling || !stream->is_partial)
        return false;
    const auto sent = TRY(remote_files_->answer(exchange, stream->url, edit_for(exchange.request(), *stream), deadline));
    if (sent && !exchange.request().is_head())
        viewers_.add_sent(exchange.request(), *stream, *sent);
    return sent.has_value();
}

DashHandler::Found DashHandler::find(const http::Request& request) const {
    if (store_.size() == 0)
        return {};
    const auto place = roots_.find(request);
    if (!place)
        return {};
    Found found{store_.find(normal_path(place->folder, place->path))};
    found.is_others = found.file != nullptr && !place->vhost.empty() && place->vhost != found.file->stream()->vhost;
    return found;
}

std::optional<segments::StreamOfFiles> DashHandler::stream_of_mpd(const http::Request& request) const {
    const DashOptions* options = options_.find(request.vhost());
    const bool is_mpd = options != nullptr && options->enabled && !request.is_sibling && request.path().ends_with(kMpdEnding);
    return is_mpd ? stream_of_mpd_at(request, request.path()) : std::nullopt;
}

segments::StreamOfFiles DashHandler::stream_of_segment(const http::Request& request) const {
    const std::string& path = request.path();
    const std::string folder = path.substr(0, std::min(path.rfind('/'), path.size()));
    return stream_of_mpd_at(request, folder + std::string(kMpdEnding))
        .value_or(segments::StreamOfFiles{request.vhost(), "", "", {}});
}

// `path` is that of an MPD, not always that of the request.
std::optional<segments::StreamOfFiles> DashHandler::stream_of_mpd_at(const http::Request& request,
                                                                     const std::string& path) const {
    const DashOptions* options = options_.find(request.vhost());
    http::Request of_mpd;
    of_mpd.message.headers = request.message.headers;
    of_mpd.target = request.target;
    of_mpd.target.path = path;
    const auto place = roots_.find(of_mpd);
    std::string base = normal_path(options->path, "");
    if (!base.ends_with('/'))
        base += '/';
    std::string below = place ? normal_path(place->folder, place->path) : "";
    if (below.starts_with(base))
        below.erase(0, base.size());
    else
        below = path.substr(std::min(path.find_first_not_of('/'), path.size()));
    const auto name = files::match_name(options->mpd_file, below);
    if (!name || !wire::rtmp::admit_name(name->app).ok() || !wire::rtmp::admit_name(name->stream).ok())
        return std::nullopt;
    // As in the stream's own files: a player has the same identity before and after they exist.
    const std::string vhost = place && !place->vhost.empty() ? place->vhost : request.vhost();
    segments::StreamOfFiles stream{vhost, name->app, name->stream, {}};
    stream.idle_limit = idle_limit_of(*options);
    return stream;
}

std::optional<segments::StreamOfFiles> DashHandler::pulled_stream(const http::Request& request) const {
    auto stream = request.is_head() ? std::nullopt : stream_of_mpd(request);
    return stream && viewers_.may_pull(request, *stream) ? std::move(stream) : std::nullopt;
}

Result<void> DashHandler::wait_for_mpd(const http::Request& request, io::Deadline deadline) {
    const DashOptions* options = options_.find(request.vhost());
    const Duration limit = options == nullptr ? Duration::zero() : Duration(2 * options->fragment + 1s);
    const auto until = deadline.sooner(io::Deadline::after(std::min<Duration>(limit, kWaitMax)));
    Signal signal;
    store_.added().add(signal);
    Result<void> waited;
    while (waited.ok() && find(request).file == nullptr)
        waited = io::wait(signal, until);
    store_.added().remove(signal);
    return !waited.ok() && waited.code() == Errc::cancelled ? waited : Result<void>();
}

Result<void> DashHandler::send_mpd(http::Exchange& exchange, segments::File& file, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    const std::string query = query_of_segments(request, *file.stream());
    if (query.empty()) {
        if (!request.is_head())
            viewers_.add_sent(request, *file.stream(), file.bytes());
        return segments::send_file(exchange, file, {{"Cache-Control", "no-cache"}}, deadline);
    }
    std::string mpd;
    for (const auto& block : file.blocks())
        mpd.append(as_text(Bytes(*block)));
    http::Reply reply{.content_type = std::string(http::mime_of(kMpdEnding)),
                      .body = with_query(mpd, query),
                      .headers = {{"Cache-Control", "no-cache"}}};
    if (!request.is_head())
        viewers_.add_sent(request, *file.stream(), reply.body.size());
    return exchange.send(std::move(reply), deadline);
}

Result<void> DashHandler::serve(http::Exchange& exchange, io::Deadline deadline) {
    const http::Request& request = exchange.request();
    if (!request.is_get())
        return exchange.send(http::method_not_allowed("GET, HEAD, OPTIONS", "DASH is played with GET"), deadline);
    if (is_time(request)) {
        const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
        return exchange.send({.content_type = "text/plain", .body = utc_text(now), .headers = {{"Cache-Control", "no-store"}}},
                             deadline);
    }
    const auto pulled = find(request).file == nullptr ? pulled_stream(request) : std::nullopt;
    if (pulled && !(remote_files_ != nullptr && TRY(is_unpublished(request, *pulled, deadline)))) {
        if (const auto admitted = viewers_.admit(request, *pulled, deadline); !admitted.ok() || *admitted)
            return send_redirect_or_error(exchange, admitted, pulled->vhost, deadline);
        // Another worker may have the stream already.
        if (const auto sent = remote_files_ == nullptr
                                  ? std::nullopt
                                  : TRY(remote_files_->answer(exchange, edit_for(request, *pulled), deadline))) {
            viewers_.add_sent(request, *pulled, *sent);
            return {};
        }
        TRY(wait_for_mpd(request, deadline));
    }
    const Found found = find(request);
    const bool is_mpd = request.path().ends_with(kMpdEnding);
    if (found.file == nullptr && may_be_elsewhere(request))
        return serve_unknown(exchange, deadline);
    if (const auto named = found.file == nullptr ? stream_of_mpd(request) : std::nullopt)
        return serve_previous_mpd(exchange, *named, deadline);
    if (found.file == nullptr || found.is_others)
        return exchange.send(http::error_reply(Status::not_found, "there is no such file"), deadline);
    const segments::FileRef& file = found.file;
    const auto admitted = request.is_sibling ? Result<Elsewhere>(Elsewhere())
                          : is_mpd           ? viewers_.admit(request, *file->stream(), deadline)
                                             : without_redirect(viewers_.touch(request, *file->stream(), deadline));
    if (!admitted.ok() || *admitted)
        return send_redirect_or_error(exchange, admitted, file->stream()->vhost, deadline);
    if (!request.is_head())
        file->stream()->requested_at = io::now();
    if (is_mpd && TRY(send_from_publisher(exchange, file->stream(), deadline)))
        return {};
    if (!file->is_whole())
        return send_growing(exchange, *file, deadline);
    if (is_mpd)
        return send_mpd(exchange, *file, deadline);
    if (!request.is_head())
        viewers_.add_sent(request, *file->stream(), file->bytes());
    const bool is_private = viewers_.guards(request, *file->stream());
    return segments::send_file(exchange, *file, segments::headers_for_caches(is_private), deadline);
}

Result<void> DashHandler::send_growing(http::Exchange& exchange, segments::File& file, io::Deadline deadline) {
    // HEAD gets the size of the available bytes.
    const auto until = deadline.sooner(io::Deadline::after(kWaitMax));
    const auto first = exchange.request().is_head() ? Result<void>() : segments::wait_for_more(file, 0, until);
    if (!first.ok() && first.code() != Errc::timed_out)
        return first;
    if (file.blocks().empty())
        return exchange.send(http::error_reply(Status::not_found, "this fragment has not come to be"), deadline);
    const auto count = [this, &exchange, &file](std::size_t bytes) {
        viewers_.add_sent(exchange.request(), *file.stream(), bytes);
    };
    const bool is_private = viewers_.guards(exchange.request(), *file.stream());
    return segments::send_growing(exchange, file, kWaitMax, segments::headers_for_caches(is_private), count, deadline);
}

}  // namespace live::service::dash
