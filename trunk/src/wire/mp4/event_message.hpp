// Event message boxes, "emsg": timed metadata in front of the fragments of a segment (ISO/IEC 23009-1, 5.10.3.3). Version 1, with
// an absolute presentation time, is written; both versions are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace live::wire::mp4 {

// The schemes of ID3 tags ("Carriage of ID3 Timed Metadata in CMAF") and of sections of SCTE 35 (ANSI/SCTE 214-3).
inline constexpr std::string_view kId3Scheme = "https://aomedia.org/emsg/ID3";
inline constexpr std::string_view kSpliceScheme = "urn:scte:scte35:2013:bin";
// A line of subtitles, in our own scheme: the data are its text in UTF-8, the value is its language (RFC 5646; may be empty).
inline constexpr std::string_view kCueScheme = "urn:millrace:subtitle";
// The timescale of the messages that this server writes.
inline constexpr std::uint32_t kEventTimescale = 90'000;
constexpr std::uint64_t event_ticks(MediaTime time) {
    return time.count() <= 0
               ? 0
               : static_cast<std::uint64_t>(time.count()) / 100 * 9 + static_cast<std::uint64_t>(time.count()) % 100 * 9 / 100;
}

struct EventMessage {
    // Limit of a box, in bytes.
    static constexpr std::size_t kBytesMax = 32U << 10;
    static constexpr std::uint32_t kUnknownDuration = 0xFFFF'FFFF;

    std::string scheme;
    std::string value{};
    std::uint32_t timescale = 1;
    // Version 1: since media time zero; version 0: since the beginning of the segment.
    std::uint64_t time = 0;
    bool is_relative = false;  // version 0
    std::uint32_t duration = kUnknownDuration;
    std::uint32_t id = 0;
    std::vector<std::uint8_t> data{};

    bool operator==(const EventMessage&) const = default;
};

// Writes a box of version 1. `message` must be within the limit, with no zero byte in its texts.
void write_event_message(ByteWriter& out, const EventMessage& message);
// Returns an event at a media time. Its id is that of its data and time: players ignore one that they have.
EventMessage event_at(std::string_view scheme, MediaTime at, Bytes data);
// Returns a line of subtitles, without the rest of a language that has a zero byte.
EventMessage cue_at(MediaTime at, MediaTime duration, std::string_view language, Bytes text);
// Writes the box of event_at().
void write_event_at(ByteWriter& out, std::string_view scheme, MediaTime at, Bytes data);
// Reads one box, header included. Errc::need_more, Errc::malformed, Errc::unsupported: another version; Errc::limit.
Result<EventMessage> parse_event_message(Bytes box);

}  // namespace live::wire::mp4
