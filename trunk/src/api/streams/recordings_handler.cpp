#include "api/streams/recordings_handler.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "api/common/rows.hpp"
#include "base/text/wall_time_text.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using service::clips::ClipService;
using service::recordings::FileFormat;
using service::recordings::RecordedStream;
using service::recordings::RecordingFile;
using service::recordings::RecordingsService;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

double duration_of(MediaTime time) { return std::chrono::duration<double>(time).count(); }

std::string_view name_of(FileFormat format) {
    switch (format) {
        case FileFormat::flv: return "flv";
        case FileFormat::mp4: return "mp4";
        case FileFormat::fmp4: break;
    }
    return "fmp4";
}

Row row_of(const RecordedStream& stream) {
    const auto spans = spans_of(stream, std::nullopt, std::nullopt);
    MediaTime duration{};
    for (const auto& span : spans)
        duration += span.duration;
    const auto count = [&stream](auto member) { return static_cast<std::uint64_t>(std::ranges::count_if(stream.files, member)); };
    return {{"stream_url", stream.url()},
            {"vhost", stream.vhost},
            {"app", stream.app},
            {"stream", stream.stream},
            {"files", std::uint64_t{stream.files.size()}},
            {"spans", std::uint64_t{spans.size()}},
            {"bytes", stream.bytes},
            {"duration", duration_of(duration)},
            {"start", wall_time_text(stream.files.front().start)},
            {"end", wall_time_text(stream.files.back().end())},
            {"pinned", count([](const RecordingFile& file) { return file.is_pinned; })},
            {"recording", count([](const RecordingFile& file) { return file.is_open; }) > 0}};
}

Row row_of(const RecordingFile& file) {
    return {{"start", wall_time_text(file.start)},
            {"duration", duration_of(file.duration)},
            {"bytes", file.bytes},
            {"file", file.path},
            {"format", std::string(name_of(file.format))},
            {"pinned", file.is_pinned},
            {"recording", file.is_open}};
}

// Recordings of a stream that begin in [begin, end); `start` is the page's.
struct Selection {
    std::string url;
    WallTime from = WallTime::min();
    WallTime to = WallTime::max();
};

enum class Times : bool { may_lack, required };

Result<Selection> selection_of(const Request& request, Times times) {
    Selection selection;
    selection.url = request.target.query.get("stream");
    if (selection.url.empty())
        return Error(Errc::malformed, "stream is not [vhost]/app/stream");
    const auto read = [&](std::string_view name, WallTime& into) -> Result<void> {
        const auto text = request.target.query.find(name);
        if (!text && times == Times::required)
            return Error(Errc::malformed, std::string(name) + " is missing");
        if (!text)
            return {};
        const auto time = parse_wall_time(*text);
        if (!time.ok())
            return Error(Errc::malformed, std::string(name) + " is not a time as in RFC 3339");
        into = *time;
        return {};
    };
    TRY(read("begin", selection.from));
    TRY(read("end", selection.to));
    return selection;
}

Reply refuse(const Error& error) {
    return error_reply(error.code() == Errc::malformed ? Status::bad_request : Status::service_unavailable, error.sentence());
}

Reply change_reply(const Request& request, const ServerInfo& server, const Result<RecordingsService::Change>& change) {
    if (!change.ok())
        return refuse(change.error());
    return row_reply(request, server, "data",
                     Row{{"changed", std::uint64_t{change->changed}}, {"kept", std::uint64_t{change->kept}}});
}

constexpr std::string_view kStreamsFolder = "/api/v1/streams/";

struct Wanted {
    MediaTime before{};
    MediaTime after{};
};

Result<MediaTime> seconds_of(const nlohmann::json& body, const char* name) {
    const auto found = body.find(name);
    if (found == body.end())
        return MediaTime();
    const double seconds = found->is_number() ? found->get<double>() : -1;
    if (!std::isfinite(seconds) || seconds < 0 || seconds > std::chrono::duration<double>(ClipService::kSpanMax).count())
        return Error(Errc::malformed, std::string(name) + " is not a number of seconds up to 3600");
    return MediaTime(std::llround(seconds * 1e6));
}

Result<Wanted> read_body(const std::string& text) {
    const auto body = nlohmann::json::parse(text, nullptr, false);
    if (!body.is_object())
        return Error(Errc::malformed, "the body is not a JSON object");
    const Wanted wanted{.before = TRY(seconds_of(body, "before")), .after = TRY(seconds_of(body, "after"))};
    if (wanted.before + wanted.after <= MediaTime() || wanted.before + wanted.after > ClipService::kSpanMax)
        return Error(Errc::malformed, "before and after are together more than 0 and at most 3600 seconds");
    return wanted;
}

}  // namespace

Reply RecordingsHandler::handle(const Request& request, io::Deadline) {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto& streams = library_.index().streams();
    ListAnswer answer(request);
    const auto begin = std::next(streams.begin(), static_cast<std::ptrdiff_t>(std::min(page->start, streams.size())));
    for (auto at = begin; at != streams.end() && answer.size() < page->count; ++at)
        answer.add(row_of(at->second));
    return answer.reply(server_, "recordings", *page, streams.size());
}

Reply RecordingFilesHandler::handle(const Request& request, io::Deadline deadline) {
    if (request.message.method != "DELETE")
        return list(request);
    const auto selection = selection_of(request, Times::required);
    if (!selection.ok())
        return refuse(selection.error());
    if (library_.index().find(selection->url) == nullptr)
        return error_reply(Status::not_found, "there is no recording of this stream");
    return change_reply(request, server_, library_.remove(selection->url, selection->from, selection->to, deadline));
}

Reply RecordingFilesHandler::list(const Request& request) const {
    const auto page = page_of(request);
    if (!page.ok())
        return refuse_page(page.error());
    const auto selection = selection_of(request, Times::may_lack);
    if (!selection.ok())
        return refuse(selection.error());
    const RecordedStream* const stream = library_.index().find(selection->url);
    if (stream == nullptr)
        return error_reply(Status::not_found, "there is no recording of this stream");
    const auto& files = stream->files;
    const auto first = std::ranges::lower_bound(files, selection->from, {}, &RecordingFile::start);
    const auto end = std::ranges::lower_bound(first, files.end(), selection->to, {}, &RecordingFile::start);
    const auto total = static_cast<std::size_t>(end - first);
    ListAnswer answer(request);
    for (std::size_t i = page->start; i < total && answer.size() < page->count; ++i)
        answer.add(row_of(first[static_cast<std::ptrdiff_t>(i)]));
    return answer.reply(server_, "files", *page, total);
}

Reply RecordingPinHandler::handle(const Request& request, io::Deadline deadline) {
    const auto selection = selection_of(request, Times::required);
    if (!selection.ok())
        return refuse(selection.error());
    const bool is_pinned = request.message.method == "PUT";
    return change_reply(request, server_,
                        library_.set_pinned(selection->url, selection->from, selection->to, is_pinned, deadline));
}

Reply RecordingDiskHandler::handle(const Request& request, io::Deadline) {
    const auto disk = library_.disk();
    const auto& index = library_.index();
    return row_reply(
        request, server_, "data",
        Row{{"streams", std::uint64_t{index.streams().size()}},
            {"files", std::uint64_t{index.files()}},
            {"bytes", index.bytes()},
            {"is_complete", library_.is_complete()},
            {"free_bytes", disk.free_bytes},
            {"growth_bytes_per_second", disk.growth},
            {"full_in_seconds", disk.full_in ? std::optional(static_cast<std::uint64_t>(disk.full_in->count())) : std::nullopt},
            {"deleted_files", disk.deleted_files},
            {"deleted_bytes", disk.deleted_bytes}});
}

Reply ClipHandler::handle(const Request& request, io::Deadline) {
    const std::string& path = request.path();
    const std::string id = path.substr(kStreamsFolder.size(), path.rfind('/') - kStreamsFolder.size());
    const auto* const stream = stats_.find_stream(id);
    if (stream == nullptr)
        return error_reply(Status::not_found, "there is no such stream");
    const auto wanted = read_body(request.message.body);
    if (!wanted.ok())
        return error_reply(Status::bad_request, wanted.error().sentence());
    const auto clip = clips_.begin(stream->vhost->name, stream->app, stream->name, wanted->before, wanted->after);
    if (!clip.ok())
        return error_reply(clip.code() == Errc::not_found ? Status::not_found : Status::service_unavailable,
                           clip.error().sentence());
    return row_reply(request, server_, "data",
                     Row{{"file", clip->file},
                         {"start", wall_time_text(clip->start)},
                         {"duration", std::chrono::duration<double>(clip->duration).count()}});
}

}  // namespace live::api
