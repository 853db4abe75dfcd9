#include "api/events/subtitles_handler.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "api/common/rows.hpp"
#include "api/events/live_stream.hpp"
#include "wire/http/status.hpp"
#include "wire/webvtt/webvtt.hpp"

namespace live::api {

using media::TimedEvent;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;

namespace {

// Seconds; nullopt if it is no number of this range.
std::optional<MediaTime> delay_of(std::string_view text) {
    if (text.empty())
        return MediaTime{};
    double seconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const double most = std::chrono::duration<double>(TimedEvent::kDelayMax).count();
    if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0 && seconds <= most))
        return std::nullopt;
    return MediaTime(std::llround(seconds * 1e6));
}

}  // namespace

Result<std::vector<TimedEvent>> read_posted_cues(std::string_view text, std::string_view language, MediaTime delay) {
    if (language.size() > TimedEvent::kLanguageMax)
        return Error(Errc::malformed, "language is a tag of RFC 5646");
    std::vector<TimedEvent> events;
    for (const wire::webvtt::Cue& cue : TRY(wire::webvtt::parse_webvtt(text))) {
        TimedEvent event{.kind = TimedEvent::Kind::text,
                         .at = delay + cue.start,
                         .data = Slice::copy_of(as_bytes(cue.text)),
                         .duration = cue.end - cue.start,
                         .language = std::string(language)};
        if (event.at > TimedEvent::kDelayMax || event.duration > TimedEvent::kDelayMax)
            return Error(Errc::malformed, "a cue begins, or lasts, more than 600 s; times count from now");
        if (event.data.size() > TimedEvent::kBytesMax)
            return Error(Errc::limit, "a cue is longer than 12 KiB");
        events.push_back(std::move(event));
    }
    return events;
}

Reply SubtitlesHandler::handle(const Request& request, io::Deadline) {
    const auto source = live_stream_of(request, stats_, streams_);
    if (!source)
        return error_reply(Status::not_found, "there is no such live stream");
    const std::string& body = request.message.body;
    const auto delay = delay_of(request.target.query.get("delay"));
    if (!delay || body.size() > kBytesMax)
        return error_reply(Status::bad_request, "delay is a number of seconds from 0 to 600, and the body has at most 64 KiB");
    const auto events = read_posted_cues(body, request.target.query.get("language"), *delay);
    if (!events.ok())
        return error_reply(Status::bad_request, events.error().sentence());
    const MediaTime now = source->timeline().newest();
    for (const TimedEvent& event : *events) {
        media::Packet packet;
        packet.dts = now;
        packet.payload = media::write_timed_event(event, {});
        source->append(std::move(packet));
    }
    source->flush();
    return row_reply(request, server_, "data",
                     Row{{"cues", events->size()}, {"time", std::chrono::duration<double>(now + *delay).count()}});
}

}  // namespace live::api
