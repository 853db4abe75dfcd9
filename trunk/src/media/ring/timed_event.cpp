#include "media/ring/timed_event.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>

#include "base/bytes/base64.hpp"
#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "wire/amf/amf.hpp"
#include "wire/amf/json.hpp"
#include "wire/id3/tag.hpp"
#include "wire/scte35/splice_info.hpp"

namespace live::media {

namespace amf = wire::amf;
namespace scte35 = wire::scte35;

namespace {

MediaTime time_of_ticks(std::int64_t ticks) { return MediaTime(ticks * 100 / 9); }

// The nearest way from one 33-bit time to another.
std::int64_t ticks_between(std::uint64_t from, std::uint64_t to) {
    const std::uint64_t ahead = (to - from) & scte35::kTicksMask;
    const bool is_behind = ahead > scte35::kTicksMask / 2;
    return static_cast<std::int64_t>(ahead) - (is_behind ? static_cast<std::int64_t>(scte35::kTicksMask) + 1 : 0);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// Messages about the stream and its transport, not of its content.
bool describes_stream(std::string_view name) {
    constexpr std::array<std::string_view, 9> kNames = {
        "onMetaData", "onFI", "onStatus", "onPlayStatus", "|RtmpSampleAccess", "onBWDone", "onBandwidth", "onAudioCodec", ""};
    return std::ranges::find(kNames, name) != kNames.end() || name.starts_with('@') || name.starts_with("onMillrace");
}

double number_in(const amf::Value& values, std::string_view key) {
    const amf::Value* const value = values.find(key);
    const double number = value == nullptr ? 0.0 : value->number().value_or(0.0);
    return std::isfinite(number) ? number : 0.0;
}

MediaTime delay_in(const amf::Value& values, std::string_view key = "delay") {
    constexpr double kMicros = 1'000;
    const double most = static_cast<double>(TimedEvent::kDelayMax.count());
    return MediaTime(static_cast<std::int64_t>(std::clamp(number_in(values, key) * kMicros, 0.0, most)));
}

std::string text_in(const amf::Value& values, std::string_view key) {
    const amf::Value* const value = values.find(key);
    return value == nullptr ? "" : std::string(value->string().value_or(""));
}

// The section in Base64; nothing if the text is something else.
std::optional<std::vector<std::uint8_t>> section_in(std::string_view text) {
    if (text.size() < 20 || text.size() > scte35::kSectionBytesMax * 2)
        return std::nullopt;
    auto bytes = bytes_of_base64(text);
    if (!bytes || bytes->empty() || bytes->front() != scte35::kTableId || !scte35::parse_splice_info(*bytes).ok())
        return std::nullopt;
    return bytes;
}

// Encoders disagree about the member's name: the first text that is a section counts, also one level below.
std::optional<std::vector<std::uint8_t>> section_in(const amf::Value& value) {
    if (const auto text = value.string())
        return section_in(*text);
    for (const amf::Value::Member& member : value.members()) {
        if (const auto text = member.value.string())
            if (auto section = section_in(*text))
                return section;
        for (const amf::Value::Member& inner : member.value.members())
            if (const auto text = inner.value.string())
                if (auto section = section_in(*text))
                    return section;
    }
    return std::nullopt;
}

// A section for messages that announce a break without one: onAdCue with a duration in seconds, and the cue points that YouTube
// takes.
std::optional<std::vector<std::uint8_t>> announced_break(std::string_view name, const amf::Value& values) {
    const bool is_youtubes = text_in(values, "type") == "com.youtube.cuepoint";
    if (!is_youtubes && !equals_ignoring_case(name, "onAdCue"))
        return std::nullopt;
    constexpr double kHz = 90'000;
    constexpr double kSecondsMax = 86'400;
    const double seconds = std::clamp(number_in(values, is_youtubes ? "break_duration_sec" : "duration"), 0.0, kSecondsMax);
    const amf::Value* const starts = values.find("cue_point_start");
    const bool is_out = starts == nullptr || starts->boolean().value_or(starts->number().value_or(1) != 0);
    const double id = std::clamp(number_in(values, is_youtubes ? "splice_event_id" : "id"), 0.0, 4'294'967'295.0);
    scte35::SpliceInsert insert{.event_id = static_cast<std::uint32_t>(id), .out_of_network = is_out, .immediate = true};
    if (is_out && seconds > 0)
        insert.duration = scte35::BreakDuration{true, static_cast<std::uint64_t>(seconds * kHz)};
    return scte35::write_splice_info({.command = scte35::Command::splice_insert, .insert = insert});
}

std::optional<TimedEvent> read_splice(const Packet& packet, std::string_view name, const amf::Value& values) {
    auto section = section_in(values);
    MediaTime delay = delay_in(values);
    if (!section) {
        constexpr double kMillis = 1'000;
        section = announced_break(name, values);
        delay =
            MediaTime(static_cast<std::int64_t>(std::clamp(number_in(values, "pre_roll_time_sec"), 0.0, 60.0) * kMillis)) * 1'000;
    }
    if (!section)
        return std::nullopt;
    return TimedEvent{.kind = TimedEvent::Kind::splice, .at = packet.dts + delay, .data = Slice::copy_of(*section)};
}

std::optional<TimedEvent> read_tag(const Packet& packet, const amf::Value& values) {
    const auto tag = bytes_of_base64(text_in(values, "data"));
    if (!tag || !wire::id3::parse_tag(*tag).ok() || tag->size() > TimedEvent::kBytesMax)
        return std::nullopt;
    return TimedEvent{.kind = TimedEvent::Kind::id3, .at = packet.dts + delay_in(values), .data = Slice::copy_of(*tag)};
}

std::optional<TimedEvent> read_text(const Packet& packet, const amf::Value& values) {
    std::string text = text_in(values, "text");
    if (text.empty() || text.size() > TimedEvent::kBytesMax || !values.find("duration"))
        return std::nullopt;
    std::string language = text_in(values, "language");
    if (language.size() > TimedEvent::kLanguageMax)
        language.clear();
    return TimedEvent{.kind = TimedEvent::Kind::text,
                      .at = packet.dts + delay_in(values),
                      .data = Slice::copy_of(as_bytes(text)),
                      .duration = delay_in(values, "duration"),
                      .language = std::move(language)};
}

std::optional<TimedEvent> read_other(const Packet& packet, std::string_view name, const amf::Value& values) {
    constexpr std::size_t kNameMax = 256;
    const std::string text = amf::json_of(values);
    if (name.size() > kNameMax || name.find('\0') != std::string_view::npos || text.size() > TimedEvent::kBytesMax)
        return std::nullopt;
    return TimedEvent{.kind = TimedEvent::Kind::id3,
                      .at = packet.dts + delay_in(values),
                      .data = Slice::copy_of(wire::id3::write_text_tag(name, text))};
}

}  // namespace

std::string_view name_of(TimedEvent::Kind kind) {
    switch (kind) {
        case TimedEvent::Kind::splice: return "scte35";
        case TimedEvent::Kind::id3: return "id3";
        case TimedEvent::Kind::text: return "text";
    }
    return "";
}

std::optional<TimedEvent> read_timed_event(const Packet& packet) {
    if (packet.kind != MediaKind::data || packet.content != Content::other || packet.codec != Codec::none)
        return std::nullopt;
    ByteReader in(packet.payload.bytes());
    const auto name = amf::read_amf0(in);
    if (!name.ok() || !name->string() || describes_stream(*name->string()))
        return std::nullopt;
    const auto read = in.at_end() ? Result<amf::Value>(amf::Value::object()) : amf::read_amf0(in);
    if (!read.ok())
        return std::nullopt;
    const amf::Value& values = *read;
    if (auto splice = read_splice(packet, *name->string(), values))
        return splice;
    if (equals_ignoring_case(*name->string(), kSpliceMessageName))
        return std::nullopt;
    if (*name->string() == kTagMessageName)
        return read_tag(packet, values);
    if (*name->string() == kTextMessageName)
        if (auto text = read_text(packet, values))
            return text;
    return read_other(packet, *name->string(), values);
}

Slice write_timed_event(const TimedEvent& event, MediaTime sent) {
    constexpr double kMicros = 1'000;
    CHECK(event.data.size() <= TimedEvent::kBytesMax);
    const double delay = std::max(0.0, static_cast<double>((event.at - sent).count()) / kMicros);
    ByteWriter writer;
    amf::Value values = amf::Value::object();
    if (event.kind == TimedEvent::Kind::text) {
        amf::write_amf0(writer, amf::Value(kTextMessageName));
        values.set("text", amf::Value(as_text(event.data.bytes())));
        values.set("language", amf::Value(event.language));
        values.set("duration", amf::Value(static_cast<double>(event.duration.count()) / kMicros));
    } else {
        amf::write_amf0(writer, amf::Value(event.kind == TimedEvent::Kind::splice ? kSpliceMessageName : kTagMessageName));
        values.set("data", amf::Value(base64(event.data.bytes())));
    }
    values.set("delay", amf::Value(delay));
    amf::write_amf0(writer, values);
    return Slice::copy_of(writer.written());
}

Result<TimedEvent> splice_event(Bytes section, MediaTime now, std::uint64_t now_ticks) {
    const auto info = TRY(scte35::parse_splice_info(section));
    TimedEvent event{.kind = TimedEvent::Kind::splice, .at = now, .data = Slice::copy_of(section)};
    if (const auto ticks = scte35::splice_ticks(info))
        event.at = now + std::clamp(time_of_ticks(ticks_between(now_ticks, *ticks)), MediaTime{}, TimedEvent::kDelayMax);
    return event;
}

std::vector<std::uint8_t> section_for(const TimedEvent& splice, std::uint64_t ticks) {
    const Bytes section = splice.data.bytes();
    const auto info = scte35::parse_splice_info(section);
    const auto named = info.ok() ? scte35::splice_ticks(*info) : std::nullopt;
    if (!named)
        return {section.begin(), section.end()};
    return scte35::with_adjustment(section, info->pts_adjustment + (ticks - *named));
}

}  // namespace live::media
