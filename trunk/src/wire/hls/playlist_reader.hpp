// Reads a media playlist, as far as playlist.hpp writes it: to go on with a list that a process before this one has left on the
// disk. Tags it does not know are passed over.
#pragma once

#include <string_view>

#include "base/result.hpp"
#include "wire/hls/playlist.hpp"

namespace live::wire::hls {

inline constexpr std::size_t kPlaylistBytesMax = 4 << 20;
inline constexpr std::size_t kPlaylistSegmentsMax = 20'000;
// Of one segment; no list of ours has longer ones.
inline constexpr MediaTime kSegmentDurationMax = std::chrono::hours(24);

// Errc::malformed without the first line, for a number that is none, a duration below zero or above kSegmentDurationMax, or an
// entry without EXTINF; Errc::limit above the bounds. An incomplete last entry is left out. Parts are not read.
Result<MediaPlaylist> parse_media_playlist(std::string_view text);

}  // namespace live::wire::hls
