// The master playlist of a stream with separate tracks (RFC 8216, 4.3.4): one variant per video track, with all audio tracks as
// alternatives. Dry.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "media/ring/track.hpp"
#include "media/source/source.hpp"
#include "service/hls/rendition.hpp"
#include "service/segments/segmenter.hpp"
#include "wire/hls/playlist.hpp"

namespace live::service::hls {

struct TrackPlaylist {
    const Rendition* rendition = nullptr;
    segments::RepresentationId id;
    const media::Track* track = nullptr;  // of the source; may be nullptr
    std::string uri;                      // of its playlist
};

// Returns the closed captions of the stream; nullopt without video.
std::optional<wire::hls::ClosedCaptions> captions_of(const media::Source& source);

// At least one track of `source`. Without video the default audio is the variant.
std::string write_master(const std::vector<TrackPlaylist>& tracks, const media::Source& source,
                         const std::vector<wire::hls::Rendition>& subtitles = {});

}  // namespace live::service::hls
