// The playlist above those of a stream's tracks (RFC 8216, 4.3.4): a variant for each track of video, with all audio to choose
// from. Dry.
#pragma once

#include <string>
#include <vector>

#include "media/track.hpp"
#include "service/hls/rendition.hpp"
#include "service/segments/segmenter.hpp"

namespace live::service::hls {

struct TrackPlaylist {
    const Rendition* rendition = nullptr;
    segments::RepresentationId id;
    const media::Track* track = nullptr;  // what the source knows of it; may be none
    std::string uri;                      // of its playlist
};

// One track at least. Without video the default audio is the variant.
std::string write_master(const std::vector<TrackPlaylist>& tracks);

}  // namespace live::service::hls
