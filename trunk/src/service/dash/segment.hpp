// The files of one segment, one of each track.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "service/dash/mpd.hpp"
#include "service/segments/store.hpp"

namespace live::service::dash {

// A file in memory, and its path on disk.
struct HeldFile {
    std::string path;
    segments::FileRef file;
};

struct TrackPiece {
    HeldFile held;
    MpdSegment times;
    std::size_t bytes = 0;
};

struct Segment {
    std::uint64_t number = 0;
    std::uint64_t period = 0;        // the number of its headers
    std::vector<TrackPiece> tracks;  // in the order of the headers of its period

    std::size_t bytes() const;
    // 0 for a segment of an earlier process, which is only on disk.
    std::size_t held_bytes() const;
};

}  // namespace live::service::dash
