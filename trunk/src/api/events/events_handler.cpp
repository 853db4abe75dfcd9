#include "api/events/events_handler.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "api/common/rows.hpp"
#include "api/events/live_stream.hpp"
#include "base/bytes/base64.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/amf/amf.hpp"
#include "wire/amf/json.hpp"
#include "wire/http/status.hpp"
#include "wire/id3/tag.hpp"
#include "wire/scte35/splice_info.hpp"

namespace live::api {

using media::TimedEvent;
using session::http::error_reply;
using session::http::Reply;
using session::http::Request;
using wire::http::Status;
namespace amf = wire::amf;
namespace scte35 = wire::scte35;

namespace {

Error wrong(std::string text) { return {Errc::malformed, std::move(text)}; }

std::string text_in(const amf::Value& body, std::string_view key) {
    const amf::Value* const value = body.find(key);
    return value == nullptr ? "" : std::string(value->string().value_or(""));
}

Result<double> number_in(const amf::Value& body, std::string_view key, double most) {
    const amf::Value* const value = body.find(key);
    const double number = value == nullptr ? 0 : value->number().value_or(-1);
    if (!(number >= 0 && number <= most))
        return wrong(std::string(key) + " is a number from 0 to " + std::to_string(static_cast<std::uint64_t>(most)));
    return number;
}

MediaTime time_of(double seconds) { return MediaTime(std::llround(seconds * 1e6)); }

Result<std::vector<std::uint8_t>> bytes_in(const amf::Value& body, std::string_view key) {
    auto bytes = bytes_of_base64(text_in(body, key));
    if (!bytes || bytes->empty())
        return wrong(std::string(key) + " is not in Base64");
    return *std::move(bytes);
}

Result<TimedEvent> read_cue(const amf::Value& body, MediaTime delay) {
    constexpr double kHz = 90'000;
    const std::string cue = text_in(body, "cue");
    if (cue != "out" && cue != "in")
        return wrong("cue is \"out\" or \"in\"");
    const auto id = static_cast<std::uint32_t>(TRY(number_in(body, "id", 4'294'967'295.0)));
    const double seconds = TRY(number_in(body, "duration", 86'400));
    scte35::SpliceInsert insert{.event_id = id, .out_of_network = cue == "out", .immediate = delay == MediaTime{}};
    if (!insert.immediate)
        insert.pts = 0;  // outputs with a clock set it
    if (insert.out_of_network && seconds > 0)
        insert.duration = scte35::BreakDuration{true, static_cast<std::uint64_t>(seconds * kHz)};
    const auto section = scte35::write_splice_info({.command = scte35::Command::splice_insert, .insert = insert});
    return TimedEvent{.kind = TimedEvent::Kind::splice, .at = delay, .data = Slice::copy_of(section)};
}

Result<TimedEvent> read_text(const amf::Value& body, MediaTime delay) {
    const std::string text = text_in(body, "text");
    const std::string language = text_in(body, "language");
    const double duration = TRY(number_in(body, "duration", 600));
    if (text.empty() || text.size() > TimedEvent::kBytesMax || language.size() > TimedEvent::kLanguageMax || duration <= 0)
        return wrong("text of at most 12 KiB needs a duration, and perhaps a language (RFC 5646)");
    return TimedEvent{.kind = TimedEvent::Kind::text,
                      .at = delay,
                      .data = Slice::copy_of(as_bytes(text)),
                      .duration = time_of(duration),
                      .language = language};
}

// An event whose time is its delay; nullopt for a message of another name.
Result<std::optional<TimedEvent>> read_known(const amf::Value& body, MediaTime delay) {
    if (body.find("scte35") != nullptr) {
        const auto section = TRY(bytes_in(body, "scte35"));
        TRY(scte35::parse_splice_info(section));
        return std::optional(TimedEvent{.kind = TimedEvent::Kind::splice, .at = delay, .data = Slice::copy_of(section)});
    }
    if (body.find("id3") != nullptr) {
        const auto tag = TRY(bytes_in(body, "id3"));
        TRY(wire::id3::parse_tag(tag));
        if (tag.size() > TimedEvent::kBytesMax)
            return wrong("id3 is longer than 12 KiB");
        return std::optional(TimedEvent{.kind = TimedEvent::Kind::id3, .at = delay, .data = Slice::copy_of(tag)});
    }
    if (body.find("cue") != nullptr)
        return std::optional(TRY(read_cue(body, delay)));
    if (body.find("text") != nullptr)
        return std::optional(TRY(read_text(body, delay)));
    return std::optional<TimedEvent>();
}

// A message that is read back as an event reaches every output.
Result<PostedEvent> read_message(const amf::Value& body, MediaTime delay) {
    constexpr double kMillis = 1'000;
    const std::string name = text_in(body, "name");
    const amf::Value* const data = body.find("data");
    if (name.empty() || data == nullptr || !data->is(amf::Kind::object))
        return wrong("the event has none of scte35, id3, cue, text, and name with data");
    amf::Value values = *data;
    if (delay > MediaTime{})
        values.set("delay", std::chrono::duration<double>(delay).count() * kMillis);
    ByteWriter out;
    amf::write_amf0(out, amf::Value(name));
    amf::write_amf0(out, values);
    media::Packet packet;
    packet.payload = Slice::copy_of(out.written());
    const auto event = media::read_timed_event(packet);
    if (!event)
        return wrong("the name is reserved, or the data is longer than 12 KiB");
    return PostedEvent{packet.payload, std::string(name_of(event->kind)), delay};
}

}  // namespace

Result<PostedEvent> read_posted_event(const std::string& text) {
    const auto body = TRY(amf::value_of_json(text));
    if (!body.is(amf::Kind::object))
        return wrong("the body is not a JSON object");
    const double most = std::chrono::duration<double>(TimedEvent::kDelayMax).count();
    const MediaTime delay = time_of(TRY(number_in(body, "delay", most)));
    const auto event = TRY(read_known(body, delay));
    if (!event)
        return read_message(body, delay);
    return PostedEvent{media::write_timed_event(*event, {}), std::string(name_of(event->kind)), delay};
}

Reply EventsHandler::handle(const Request& request, io::Deadline) {
    const auto source = live_stream_of(request, stats_, streams_);
    if (!source)
        return error_reply(Status::not_found, "there is no such live stream");
    auto event = read_posted_event(request.message.body);
    if (!event.ok())
        return error_reply(Status::bad_request, event.error().sentence());
    media::Packet packet;
    packet.dts = source->timeline().newest();
    packet.payload = std::move(event->message);
    const MediaTime at = packet.dts + event->delay;
    source->append(std::move(packet));
    source->flush();
    return row_reply(request, server_, "data", Row{{"kind", event->kind}, {"time", std::chrono::duration<double>(at).count()}});
}

}  // namespace live::api
