#include "service/recordings/playback_request.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "service/hls/timed/subtitles.hpp"
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

// Seconds before now, as a negative number.
std::optional<MediaTime> read_ago(const wire::http::Query& query) {
    const std::string_view text = query.get("start");
    double seconds = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const double most = std::chrono::duration<double>(PlaybackRequest::kDurationMax).count();
    if (!text.starts_with('-') || failure != std::errc() || end != text.data() + text.size() || !std::isfinite(seconds) ||
        -seconds > most)
        return std::nullopt;
    return MediaTime(std::llround(-seconds * 1e6));
}

template <class Number>
Result<Number> read_number(const wire::http::Query& query, std::string_view name) {
    const std::string_view text = query.get(name);
    Number number{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size())
        return Error(Errc::malformed, fmt::format("{} is not a number", name));
    return number;
}

Result<PlaybackRequest::Segment> read_segment(const wire::http::Query& query) {
    const auto offset = TRY(read_number<std::uint64_t>(query, "offset"));
    const auto bytes = TRY(read_number<std::uint64_t>(query, "bytes"));
    const MediaTime at(TRY(read_number<std::int64_t>(query, "at")));
    if (offset > UINT64_MAX / 4 || bytes > UINT64_MAX / 4 || at > PlaybackRequest::kDurationMax ||
        at < -PlaybackRequest::kDurationMax)
        return Error(Errc::malformed, "there is no such segment");
    return PlaybackRequest::Segment{.offset = offset, .bytes = bytes, .at = at};
}

Result<PlaybackRequest::Format> read_format(const wire::http::Query& query) {
    using Format = PlaybackRequest::Format;
    constexpr std::array<std::pair<std::string_view, Format>, 8> kFormats = {{{"fmp4", Format::fmp4},
                                                                              {"mp4", Format::mp4},
                                                                              {"hls", Format::hls},
                                                                              {"media", Format::media},
                                                                              {"text", Format::text},
                                                                              {"cues", Format::cues},
                                                                              {"segment", Format::segment},
                                                                              {"init", Format::init}}};
    const std::string_view name = query.get("format", "fmp4");
    for (const auto& [known, format] : kFormats)
        if (known == name)
            return format;
    return Error(Errc::malformed, "format is not fmp4, mp4 or hls");
}

Result<PlaybackRequest> read_stream(std::string_view path) {
    PlaybackRequest request;
    if (path.starts_with('/'))
        path.remove_prefix(1);
    const std::size_t slash = path.rfind('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == path.size())
        return Error(Errc::malformed, "path is not APP/STREAM");
    request.app = path.substr(0, slash);
    request.stream = path.substr(slash + 1);
    if (!wire::rtmp::admit_name(request.app).ok() || !wire::rtmp::admit_name(request.stream).ok())
        return Error(Errc::malformed, "path is not the name of a stream");
    return request;
}

}  // namespace

Result<PlaybackRequest> PlaybackRequest::parse(const wire::http::Query& query) {
    PlaybackRequest request = TRY(read_stream(query.get("path")));
    request.ago = read_ago(query);
    if (!request.ago)
        request.start = TRY(read_time(query, "start"));
    request.end = TRY(read_time(query, "end"));
    request.duration = TRY(read_duration(query));
    request.format = TRY(read_format(query));
    request.language = hls::language_of(query.get("language"));
    if (request.format == Format::segment || request.format == Format::cues)
        request.segment = TRY(read_segment(query));
    if ((request.format == Format::segment || request.format == Format::init || request.format == Format::cues) && !request.start)
        return Error(Errc::malformed, "start is not the start of a recording");
    return request;
}

Result<PlaybackRequest> PlaybackRequest::parse_timeshift(std::string_view path, const wire::http::Query& query) {
    PlaybackRequest request = TRY(read_stream(path.substr(0, path.rfind('.'))));
    request.format = query.get("format") == "text" ? Format::text : Format::media;
    request.language = hls::language_of(query.get("language"));
    request.ago = read_ago(query);
    if (!request.ago)
        request.start = TRY(read_time(query, "start"));
    if (!request.ago && !request.start)
        return Error(Errc::malformed, "start is not a time as in RFC 3339");
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
