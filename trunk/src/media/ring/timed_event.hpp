// Timed events: markers of SCTE 35, timed metadata and lines of subtitles. In the ring, between nodes and to RTMP and FLV
// players, an event is a data message in AMF0, so that it travels and is kept like every other message of the stream; outputs
// with forms of their own (ID3, event message boxes, date ranges, sections) read it here. ADR 0073.
//
// kSpliceMessageName: an object with `data`, the section of SCTE 35 in Base64, and `delay`, the milliseconds from the message's
// time to the splice; kTagMessageName: the same with an ID3 tag; kTextMessageName: `text`, `language`, `delay` and `duration`.
// Publishers' messages of other forms that carry a section or announce a break are read too. Every other message becomes an ID3
// tag whose text is its values in JSON, named like the message; except for those that describe the stream (onMetaData, onFI,
// onStatus, ...).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

inline constexpr std::string_view kSpliceMessageName = "onScte35";
inline constexpr std::string_view kTagMessageName = "onId3";
inline constexpr std::string_view kTextMessageName = "onTextData";

struct TimedEvent {
    // Limit of `data`, in bytes. Larger ones are not events.
    static constexpr std::size_t kBytesMax = 12U << 10;
    // An event may be announced this long before its time.
    static constexpr MediaTime kDelayMax = 600s;
    static constexpr std::size_t kLanguageMax = 35;  // RFC 5646, 4.4.1

    enum class Kind : std::uint8_t { splice, id3, text };
    static constexpr std::size_t kKinds = 3;

    Kind kind = Kind::id3;
    MediaTime at{};          // on the source's timeline, of presentation
    Slice data{};            // a section with its checksum, an ID3 tag, or the text of a subtitle in UTF-8
    MediaTime duration{};    // of a subtitle
    std::string language{};  // of a subtitle, RFC 5646
};
std::string_view name_of(TimedEvent::Kind kind);

// Returns the event in a data packet; nullopt if the packet has no event.
std::optional<TimedEvent> read_timed_event(const Packet& packet);
// Returns the body of the message for an event. `sent` is the message's time, at or before that of the event.
Slice write_timed_event(const TimedEvent& event, MediaTime sent);

// A section of SCTE 35 as an event. `now` is a time of the stream, and `now_ticks` the same time on the clock of its PTS: a
// section names its splice on that clock. Errc of parse_splice_info().
Result<TimedEvent> splice_event(Bytes section, MediaTime now, std::uint64_t now_ticks);
// Returns the section with the PTS that the event has in a stream whose PTS are `ticks` at the time of the event.
std::vector<std::uint8_t> section_for(const TimedEvent& splice, std::uint64_t ticks);

}  // namespace live::media
