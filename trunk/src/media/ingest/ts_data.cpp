#include "media/ingest/ts_data.hpp"

#include "media/ring/timed_event.hpp"
#include "wire/id3/tag.hpp"
#include "wire/scte35/splice_info.hpp"
#include "wire/ts/clock.hpp"

namespace live::media {

void push_ts_data(Ingest& ingest, const wire::ts::TsReader::Unit& unit) {
    const wire::codec::Frame& frame = unit.frame;
    const auto push = [&](const TimedEvent& event) {
        ingest.push_data(static_cast<std::uint32_t>(to_ms(frame.dts)), write_timed_event(event, frame.dts));
    };
    if (unit.format == wire::ts::StreamFormat::scte35) {
        const auto info = wire::scte35::parse_splice_info(frame.data.bytes());
        const bool has_splice =
            info.ok() && (info->encrypted || info->insert || info->command == wire::scte35::Command::time_signal);
        if (!has_splice)
            return;
        if (const auto event = splice_event(frame.data.bytes(), frame.dts, wire::ts::ticks_of(frame.dts)); event.ok())
            push(*event);
        return;
    }
    if (unit.format == wire::ts::StreamFormat::id3 && frame.data.size() <= TimedEvent::kBytesMax &&
        wire::id3::parse_tag(frame.data.bytes()).ok())
        push({.kind = TimedEvent::Kind::id3, .at = frame.dts, .data = frame.data});
}

}  // namespace live::media
