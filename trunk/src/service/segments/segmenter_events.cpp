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

void EventCounts::write_metrics(MetricsText& text, std::string_view family, std::string_view help) const {
    text.family(family, MetricsText::Type::counter, help);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        const std::string kind(name_of(static_cast<media::TimedEvent::Kind>(i)));
        text.sample(kinds[i].accepted, {{"kind", kind}, {"result", "accepted"}});
        text.sample(kinds[i].dropped, {{"kind", kind}, {"result", "dropped"}});
    }
}

}  // namespace live::service::segments
