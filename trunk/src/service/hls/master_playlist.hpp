// The master playlist of a stream with separate tracks (RFC 8216, 4.3.4): one variant per video track, with all audio tracks as
// alternatives. Dry.
#pragma once

#include <string>
#include <vector>

#include "media/ring/track.hpp"
#include "service/hls/rendition.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::hls {

struct TrackPlaylist {
    const Rendition* rendition = nullptr;
    segments::RepresentationId id;
    const media::Track* track = nullptr;  // of the source; may be nullptr
    std::string uri;                      // of its playlist
};

// At least one track. Without video the default audio is the variant.
std::string write_master(const std::vector<TrackPlaylist>& tracks);

}  // namespace live::service::hls
