#include "wire/mp4/event_message.hpp"

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/hash.hpp"
#include "wire/mp4/box.hpp"

namespace live::wire::mp4 {

namespace {

Result<std::string> read_terminated(ByteReader& in) {
    const Bytes rest = in.rest();
    const auto end = std::ranges::find(rest, std::uint8_t{0});
    if (end == rest.end())
        return Error(Errc::malformed, "a text in an event message does not end");
    const auto size = static_cast<std::size_t>(end - rest.begin());
    std::string text(as_text(TRY(in.take(size))));
    TRY(in.skip(1));
    return text;
}

Result<EventMessage> read_event_message(ByteReader& in) {
    EventMessage message;
    const std::uint32_t version = TRY(in.u32be()) >> 24;
    if (version > 1)
        return Error(Errc::unsupported, "an event message of another version");
    message.is_relative = version == 0;
    const auto read_texts = [&]() -> Result<void> {
        message.scheme = TRY(read_terminated(in));
        message.value = TRY(read_terminated(in));
        return {};
    };
    if (message.is_relative)
        TRY(read_texts());
    message.timescale = TRY(in.u32be());
    message.time = message.is_relative ? TRY(in.u32be()) : TRY(in.u64be());
    message.duration = TRY(in.u32be());
    message.id = TRY(in.u32be());
    if (!message.is_relative)
        TRY(read_texts());
    message.data.assign(in.rest().begin(), in.rest().end());
    return message;
}

}  // namespace

void write_event_message(ByteWriter& out, const EventMessage& message) {
    const std::size_t before = out.size();
    {
        const Box box(out, "emsg", 1, 0);
        out.u32be(message.timescale).u64be(message.time).u32be(message.duration).u32be(message.id);
        out.text(message.scheme).u8(0).text(message.value).u8(0).bytes(message.data);
    }
    CHECK(out.size() - before <= EventMessage::kBytesMax);
}

EventMessage event_at(std::string_view scheme, MediaTime at, Bytes data) {
    const std::uint64_t time = event_ticks(at);
    return {.scheme = std::string(scheme),
            .timescale = kEventTimescale,
            .time = time,
            .id = static_cast<std::uint32_t>(fnv1a_step(fnv1a(data), time)),
            .data = {data.begin(), data.end()}};
}

EventMessage cue_at(MediaTime at, MediaTime duration, std::string_view language, Bytes text) {
    EventMessage cue = event_at(kCueScheme, at, text);
    cue.value = language.substr(0, language.find('\0'));
    cue.duration = static_cast<std::uint32_t>(std::min<std::uint64_t>(event_ticks(duration), EventMessage::kUnknownDuration - 1));
    return cue;
}

void write_event_at(ByteWriter& out, std::string_view scheme, MediaTime at, Bytes data) {
    write_event_message(out, event_at(scheme, at, data));
}

Result<EventMessage> parse_event_message(Bytes box) {
    ByteReader in(box);
    const std::uint32_t size = TRY(in.u32be());
    if (size > EventMessage::kBytesMax)
        return Error(Errc::limit, "an event message that is too long");
    if (as_text(TRY(in.take(4))) != "emsg" || size < kBoxHeaderBytes)
        return Error(Errc::malformed, "not an event message");
    ByteReader body(TRY(in.take(size - kBoxHeaderBytes)));
    auto message = read_event_message(body);
    if (!message.ok() && message.code() == Errc::need_more)
        return Error(Errc::malformed, "an event message that is shorter than its members");
    return message;
}

}  // namespace live::wire::mp4
