// The MPD of a live stream (ISO/IEC 23009-1, 5): a dynamic presentation with one adaptation set per audio track, and one for all
// video tracks that players can switch between, whose segments are listed individually. Writing only; dry.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "wire/codec/video/captions.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::service::dash {

struct MpdSegment {
    MediaTime start{};
    MediaTime duration{};
};
// Returns the listed duration: both ends are rounded, so that each segment ends where the next one begins.
std::chrono::milliseconds listed_duration(const MpdSegment& segment);

struct MpdTrack {
    std::string id;  // of the representation, also used in file names
    wire::mp4::TrackFormat format;
    std::string language;                     // RFC 5646; empty if unknown
    std::string label;                        // for viewers; may be empty
    bool is_extra = false;                    // not the default of its kind
    wire::codec::CaptionServices captions{};  // of video
    std::vector<MpdSegment> segments;
    std::uint64_t bits_a_second = 0;
};

// A marker of SCTE 35 (ANSI/SCTE 214-1, 6.7.4).
struct MpdEvent {
    std::uint32_t id = 0;
    MediaTime time{};  // of the presentation
    std::optional<MediaTime> duration{};
    std::vector<std::uint8_t> section{};
};

// The file below the folder of the segments that has the server's time, for players whose clock is wrong.
inline constexpr std::string_view kTimeFile = "utc-time.txt";

// The segments with one set of headers.
struct MpdPeriod {
    MediaTime start{};
    std::uint64_t init_number = 0;   // of the headers, as of init_suffix(); the period's id
    std::uint64_t first_number = 0;  // of the segments, the same for all tracks
    // At least one track; all have the same number of segments, at least one. Audio comes first; within a kind, the default
    // track.
    std::vector<MpdTrack> tracks;
};

// An MPD. Its base is the newest period.
struct Mpd : MpdPeriod {
    std::chrono::system_clock::time_point began{};  // when media time was zero
    std::chrono::system_clock::time_point written{};
    MediaTime update_period{};
    std::uint32_t window_size = 1;  // upper limit of listed segments
    std::string folder;             // of the segments, relative to the MPD; with a trailing slash
    // The duration of chunks, if the last segments are in progress or follow. Their durations are predicted.
    std::optional<MediaTime> chunk;
    std::vector<MpdPeriod> earlier{};  // the previous ones, while they have segments
    std::vector<MpdEvent> events{};    // in all periods
};

// Returns the suffix in the names of headers.
std::string init_suffix(std::uint64_t number);
std::string text_of(const Mpd& mpd);
// Adds `query` to the URL of each segment and header in a text of text_of(), behind a query that is there.
std::string with_query(std::string_view mpd, std::string_view query);

}  // namespace live::service::dash
