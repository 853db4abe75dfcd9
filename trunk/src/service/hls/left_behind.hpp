// What a server before this one has left of a stream on the disk: the list to go on with.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "io/deadline.hpp"
#include "service/hls/names.hpp"
#include "service/hls/segment_list.hpp"

namespace live::service::hls {

struct LeftBehind {
    std::vector<ListedSegment> segments;
    std::uint64_t first_number = 0;
    std::uint64_t discontinuities = 0;  // that have left the list
};

// Of the stream's own playlist. When that names playlists of tracks, nothing is listed again, but the numbers go on.
// Errc::not_found.
Result<LeftBehind> read_left_behind(const Names& names, io::Deadline deadline);

}  // namespace live::service::hls
