// Reads playlists: our own, to continue a list that a previous process left on disk, and other servers', as far as a player that
// does not decode needs them. Unknown tags are skipped.
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
// Per segment; segments of our playlists are shorter.
inline constexpr MediaTime kSegmentDurationMax = std::chrono::hours(24);

struct AnyPlaylist {
    // Not empty: this is a master playlist without segments.
    std::vector<std::string> variants;  // URIs
    MediaPlaylist media;
    bool is_ended = false;  // EXT-X-ENDLIST: nothing more will be added
};

// Errc::malformed without the first line, for an invalid number, a duration below zero or above kSegmentDurationMax, or an entry
// without a tag that it needs; Errc::limit above the bounds. An incomplete last entry is dropped, and so is a last line without a
// line end. Parts are not read.
Result<AnyPlaylist> parse_playlist(std::string_view text);
// The same, but Errc::malformed for a master playlist.
Result<MediaPlaylist> parse_media_playlist(std::string_view text);

}  // namespace live::wire::hls
