// The MPD of a live stream (ISO/IEC 23009-1, 5): a presentation that goes on, with one set of video, one of audio, or both,
// whose segments are listed one by one. Writing only; dry.
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
    wire::mp4::TrackFormat format;
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
    std::uint64_t first_number = 0;  // of the segments, which both tracks share
    // The last segment is still being made, in chunks of this length; its duration is foretold.
    std::optional<MediaTime> chunk;
    // One at least, with a segment at least.
    std::optional<MpdTrack> audio;
    std::optional<MpdTrack> video;
};

std::string text_of(const Mpd& mpd);

}  // namespace live::service::dash
