// HLS playlists as text (RFC 8216, and its second edition, draft-pantos-hls-rfc8216bis, for low latency): the media playlist of
// one stream, and the master playlist that lists streams. Writing; playlist_reader.hpp reads the result.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/utc_text.hpp"
#include "base/time.hpp"

namespace live::wire::hls {

// RFC 8216, 4.3.2.4: AES-128 in CBC mode over whole segments.
struct Key {
    std::string uri{};
    std::array<std::uint8_t, 16> iv{};

    bool operator==(const Key&) const = default;
};

// A part of a segment that can be loaded before the segment is complete (8216bis, 4.4.4.9).
struct Part {
    std::string uri{};
    MediaTime duration{};
    bool independent = false;  // decoding may start in it
    bool gap = false;          // it is missing and cannot be loaded

    bool operator==(const Part&) const = default;
};

// A span of time with a marker of SCTE 35 (RFC 8216, 4.3.2.7 and 4.3.2.7.1). Sections are bytes; empty: not written.
struct DateRange {
    std::string id{};
    UtcTime start{};
    std::optional<UtcTime> end{};         // written in a second tag, with `in`
    std::optional<MediaTime> planned{};   // PLANNED-DURATION
    std::vector<std::uint8_t> out{};      // SCTE35-OUT
    std::vector<std::uint8_t> in{};       // SCTE35-IN
    std::vector<std::uint8_t> command{};  // SCTE35-CMD

    bool operator==(const DateRange&) const = default;
};

// Appends the tags of a range.
void write_date_range(const DateRange& range, std::string& out);

// A tag of older players before a segment: EXT-X-CUE-OUT, EXT-X-CUE-OUT-CONT or EXT-X-CUE-IN. No RFC has them.
struct CueTag {
    enum class Kind : std::uint8_t { out, more, in };
    Kind kind = Kind::out;
    MediaTime elapsed{};
    std::optional<MediaTime> duration{};

    bool operator==(const CueTag&) const = default;
};
// Returns the line of the tag.
std::string cue_tag_text(const CueTag& cue);

struct Segment {
    std::string uri{};
    MediaTime duration{};
    bool discontinuity = false;  // its media does not continue from the previous segment
    bool gap = false;            // it is not available
    std::optional<Key> key;      // written when it differs from the previous segment's
    std::string map;             // URI of the initialisation section; written when it differs from the previous segment's
    std::vector<Part> parts;
    std::optional<UtcTime> date{};  // of its first frame (RFC 8216, 4.3.2.6)
    std::optional<CueTag> cue{};

    bool operator==(const Segment&) const = default;
};

// Another media playlist of the same presentation (8216bis, 4.4.5.4).
struct RenditionReport {
    std::string uri{};
    std::uint64_t last_segment = 0;
    std::optional<std::uint64_t> last_part;

    bool operator==(const RenditionReport&) const = default;
};

struct LowLatency {
    MediaTime part_target{};  // the maximum part duration
    MediaTime can_skip_until{};
    // The incomplete segment: its parts, and the tags before them. Its URI is not written.
    Segment open;
    std::string hint;  // URI of the next part; empty if missing
    std::vector<RenditionReport> reports;

    bool operator==(const LowLatency&) const = default;
};

struct MediaPlaylist {
    std::uint64_t media_sequence = 0;          // number of the first segment, including skipped ones
    std::uint64_t discontinuity_sequence = 0;  // discontinuities removed from the list; written unless 0
    MediaTime target_duration{};               // written in whole seconds, rounded up
    std::vector<Segment> segments{};
    std::size_t skipped = 0;  // number of leading segments skipped in a delta update (8216bis, 4.4.5.2)
    std::optional<LowLatency> low_latency{};
    bool independent = false;              // each segment can be decoded without the others (RFC 8216, 4.3.5.1)
    std::vector<DateRange> date_ranges{};  // written before the segments, in delta updates too

    bool operator==(const MediaPlaylist&) const = default;
};

// Ends with a line feed. EXTINF has three decimals and ", no desc". URIs must not contain line ends or quotes.
std::string write_media_playlist(const MediaPlaylist& playlist);

struct Variant {
    std::string uri{};
    std::uint64_t bandwidth = 1;          // bit/s, the highest of any segment
    std::uint64_t average_bandwidth = 1;  // bit/s
    std::string codecs{};                 // RFC 6381; empty when unknown
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    double frame_rate = 0;
    std::string audio_group{};  // of renditions that are played with it; empty: its audio is in it
};

// The INSTREAM-ID of each service of closed captions in the video of all variants (RFC 8216, 4.3.4.1). Empty: the video has none,
// CLOSED-CAPTIONS=NONE (4.3.4.2).
using ClosedCaptions = std::vector<std::string>;

// Audio that a variant is played with, or subtitles (RFC 8216, 4.3.4.1).
struct Rendition {
    std::string uri{};
    std::string group{};
    std::string name{};      // one of its own in the group
    std::string language{};  // RFC 5646, empty when it is not known
    bool is_default = false;
};

// RFC 8216, 4.3.4. Names and languages may be anything: what a quoted string cannot hold is left out. Without `captions` it is
// unknown whether there are any.
std::string write_master_playlist(const std::vector<Variant>& variants, const std::vector<Rendition>& audio = {},
                                  const std::optional<ClosedCaptions>& captions = {},
                                  const std::vector<Rendition>& subtitles = {});

}  // namespace live::wire::hls
