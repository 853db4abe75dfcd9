// Reads the playlist that an earlier process has left on disk, to continue it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/hls/files/names.hpp"
#include "service/hls/segment_list.hpp"

namespace live::service::hls {

struct PreviousPlaylist {
    std::vector<ListedSegment> segments;
    std::uint64_t first_number = 0;
    std::uint64_t discontinuities = 0;  // already removed from the list
};

// Reads the stream's own playlist. If it is a master playlist of separate tracks, no old segments are listed, but numbering
// continues. Errc::not_found.
Result<PreviousPlaylist> read_previous_playlist(const Names& names, io::Deadline deadline);

}  // namespace live::service::hls
