#include "service/recordings/playback_request.hpp"

#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "wire/rtmp/stream_url.hpp"

namespace live::service::recordings {

namespace {

Result<std::optional<WallTime>> read_time(const wire::http::Query& query, std::string_view name) {
    const auto text = query.find(name);
    if (!text || text->empty())
        return std::optional<WallTime>();
    const auto time = parse_wall_time(*text);
    if (!time.ok())
        return Error(Errc::malformed, fmt::format("{} is not a time as in RFC 3339", name));
    return std::optional(*time);
}

Result<std::optional<MediaTime>> read_duration(const wire::http::Query& query) {
    const auto text = query.find("duration");
    if (!text || text->empty())
        return std::optional<MediaTime>();
    double seconds = 0;
    const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    const double most = std::chrono::duration<double>(PlaybackRequest::kDurationMax).count();
    // "5s" is the form of older clients.
    const bool is_whole = end == text->data() + text->size() || std::string_view(end, text->data() + text->size()) == "s";
    if (failure != std::errc() || !is_whole || !std::isfinite(seconds) || seconds <= 0 || seconds > most)
        return Error(Errc::malformed, "duration is not a number of seconds above zero");
    return std::optional(MediaTime(std::llround(seconds * 1e6)));
}

}  // namespace

Result<PlaybackRequest> PlaybackRequest::parse(const wire::http::Query& query) {
    PlaybackRequest request;
    std::string_view path = query.get("path");
    if (path.starts_with('/'))
        path.remove_prefix(1);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == path.size())
        return Error(Errc::malformed, "path is not APP/STREAM");
    request.app = path.substr(0, slash);
    request.stream = path.substr(slash + 1);
    if (!wire::rtmp::admit_name(request.app).ok() || !wire::rtmp::admit_name(request.stream).ok())
        return Error(Errc::malformed, "path is not the name of a stream");
    request.start = TRY(read_time(query, "start"));
    request.end = TRY(read_time(query, "end"));
    request.duration = TRY(read_duration(query));
    const std::string_view format = query.get("format", "fmp4");
    if (format == "mp4")
        request.format = Format::mp4;
    else if (format != "fmp4")
        return Error(Errc::malformed, "format is not fmp4 or mp4");
    return request;
}

std::string list_text(const std::vector<RecordedSpan>& spans, std::size_t first, std::size_t count, const std::string& get_url) {
    fmt::memory_buffer text;
    const auto out = fmt::appender(text);
    for (std::size_t i = first; i < std::min(first + count, spans.size()); ++i) {
        const std::string start = wall_time_text(spans[i].start);
        const double seconds = std::chrono::duration<double>(spans[i].duration).count();
        fmt::format_to(out, "{}{{\"start\":\"{}\",\"duration\":{:.6f},\"url\":\"{}&start={}&duration={:.6f}\"}}",
                       i == 0 ? "[" : ",", start, seconds, get_url, wire::http::percent_encode(start), seconds);
    }
    if (first + count >= spans.size())
        text.push_back(']');
    return fmt::to_string(text);
}

std::string error_text(std::string_view sentence) {
    const nlohmann::json text = {{"status", "error"}, {"error", sentence}};
    return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace live::service::recordings
