#include "service/segments/segmenter_events.hpp"

namespace live::service::segments {

std::string RepresentationId::name() const {
    if (!kind)
        return "";
    const std::string text = *kind == MediaKind::video ? "video" : "audio";
    return extra ? text + "-" + std::to_string(static_cast<unsigned>(track)) : text;
}

const media::Track* RepresentationId::track_of(const media::Source& source) const {
    if (!kind)
        return nullptr;
    return extra ? source.tracks().find(*kind, track) : source.tracks().default_of(*kind);
}

std::vector<RepresentationId> representations_of(const SegmentState& state) {
    if (!state.by_track)
        return {RepresentationId()};
    std::vector<RepresentationId> ids;
    for (const SegmentState::Track& track : state.tracks)
        ids.push_back({track.kind, track.id, track.extra});
    return ids;
}

}  // namespace live::service::segments
