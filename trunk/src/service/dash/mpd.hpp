// The MPD of a live stream (ISO/IEC 23009-1, 5): a presentation that goes on, with a set for each track of audio and one for the
// video, as far as players can change between its tracks, whose segments are listed one by one. Writing only; dry.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::service::dash {

struct MpdSegment {
    MediaTime start{};
    MediaTime duration{};
};

struct MpdTrack {
    std::string id;  // of its representation, and so in the names of its files
    wire::mp4::TrackFormat format;
    std::string language;   // RFC 5646; empty when it is not known
    std::string label;      // for viewers; empty as well
    bool is_extra = false;  // not the default of its kind
    std::vector<MpdSegment> segments;
    std::uint64_t bits_a_second = 0;
};

struct Mpd {
    std::chrono::system_clock::time_point began{};  // when media time was zero
    std::chrono::system_clock::time_point written{};
    MediaTime update_period{};
    std::uint32_t window_size = 1;   // segments that are listed at most
    std::string folder;              // of the segments, seen from the MPD; with a slash at its end
    std::string init_suffix;         // of the headers' names: "" or "-3"
    std::uint64_t first_number = 0;  // of the segments, the same for all tracks
    // The last segment is still being made, in chunks of this length; its duration is foretold.
    std::optional<MediaTime> chunk;
    // One at least, each with as many segments, and one at least. Audio comes first, and of a kind the default track.
    std::vector<MpdTrack> tracks;
};

std::string text_of(const Mpd& mpd);

}  // namespace live::service::dash
