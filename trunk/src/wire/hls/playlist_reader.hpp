// Reads playlists: our own, to go on with a list that a process before this one has left on the disk, and other servers', as far
// as a player that decodes nothing needs them. Tags it does not know are passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wire/hls/playlist.hpp"

namespace live::wire::hls {

inline constexpr std::size_t kPlaylistBytesMax = 4 << 20;
inline constexpr std::size_t kPlaylistSegmentsMax = 20'000;
inline constexpr std::size_t kPlaylistVariantsMax = 64;
inline constexpr std::size_t kPlaylistUriBytesMax = 4'096;  // of a key or a map
// Of one segment; no list of ours has longer ones.
inline constexpr MediaTime kSegmentDurationMax = std::chrono::hours(24);

struct AnyPlaylist {
    // Not empty: this is a master playlist and has no segments.
    std::vector<std::string> variants;  // their URIs
    MediaPlaylist media;
    bool is_ended = false;  // EXT-X-ENDLIST: nothing will be added
};

// Errc::malformed without the first line, for a number that is none, a duration below zero or above kSegmentDurationMax, or an
// entry without the tag that it needs; Errc::limit above the bounds. An incomplete last entry is left out, and a last line
// without its end is one. Parts are not read.
Result<AnyPlaylist> parse_playlist(std::string_view text);
// The same; a master playlist is Errc::malformed too.
Result<MediaPlaylist> parse_media_playlist(std::string_view text);

}  // namespace live::wire::hls
