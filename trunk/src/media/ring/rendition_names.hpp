// The names by which players choose one of several video tracks: the same for every protocol. The stream itself is "source". A
// further track has the name that its publisher or its ladder gave it, or "video-ID", as in the name of its HLS playlist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "media/ring/track.hpp"

namespace live::media {

inline constexpr std::string_view kSourceRendition = "source";

// Returns the name of a further video track. The first of several tracks with one name has it.
std::string rendition_name(const std::vector<Track>& all, const Track& track);
// Returns the video track with this name; nullptr if none has it. `source` is the default track, nullptr if unknown.
const Track* find_rendition(const std::vector<Track>& all, const Track* source, std::string_view name);

}  // namespace live::media
