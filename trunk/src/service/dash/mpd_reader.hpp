// Reads the MPDs that text_of() writes, to continue a presentation that an earlier process left on disk. Dry.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "service/dash/mpd.hpp"

namespace live::service::dash {

inline constexpr std::size_t kMpdBytesMax = 4 << 20;
inline constexpr std::size_t kMpdTracksMax = 32;
// The limit of segment numbers and of times in milliseconds, so that sums stay in range.
inline constexpr std::uint64_t kMpdNumberMax = std::uint64_t{1} << 42;

struct ReadMpd {
    struct Track {
        std::string id;  // letters, digits and '-'
        std::vector<MpdSegment> segments;
    };

    std::chrono::system_clock::time_point began{};  // when media time was zero
    // The start of the newest period.
    MediaTime period_start{};
    std::uint64_t init_number = 0;   // of the headers
    std::uint64_t first_number = 0;  // of the segments, the same for all tracks
    std::vector<Track> tracks;       // at least one; all have the same number of segments, at least one
};

// Errc::malformed: text_of() has not written it; Errc::limit: above the limits.
Result<ReadMpd> read_mpd(std::string_view text);

}  // namespace live::service::dash
