#include "service/segments/track_set.hpp"

#include <algorithm>
#include <tuple>

namespace live::service::segments {

using media::Packet;

void TrackSet::restart(Layout layout, MakeMuxer make_muxer) {
    tracks_.clear();
    representations_.clear();
    first_.reset();
    leader_ = 0;
    layout_ = layout;
    make_muxer_ = std::move(make_muxer);
    if (layout_ == Layout::together)
        add_representation({});
}

// Linear search over a few tracks, by kind and id. Together, all tracks share one representation.
std::optional<std::size_t> TrackSet::index_of(const Packet& packet) {
    const auto is_it = [&packet](const Track& track) { return track.kind == packet.kind && track.id == packet.track; };
    const auto found = std::ranges::find_if(tracks_, is_it);
    if (found != tracks_.end())
        return static_cast<std::size_t>(found - tracks_.begin());
    if (tracks_.size() == kTracksMax)
        return std::nullopt;
    Track& track = tracks_.emplace_back();
    track.kind = packet.kind;
    track.id = packet.track;
    track.extra = packet.extra;
    if (layout_ == Layout::by_track)
        add_representation({packet.kind, packet.track, packet.extra});
    return tracks_.size() - 1;
}

void TrackSet::add_representation(const RepresentationId& id) {
    Representation& of = representations_.emplace_back();
    of.id = id;
    of.muxer = make_muxer_();
}

bool TrackSet::can_begin_with(const Packet& packet) const {
    return packet.kind == MediaKind::audio || packet.key || !waits_for_key_;
}

// Video starts with a frame at which players can start decoding.
bool TrackSet::is_decodable(const Track& track, const Packet& packet) const { return track.seen || can_begin_with(packet); }

bool TrackSet::has_video() const {
    return std::ranges::any_of(tracks_, [](const Track& track) { return track.kind == MediaKind::video && track.seen; });
}

bool TrackSet::leads(std::size_t index) const {
    if (layout_ == Layout::by_track)
        return index == leader_;
    return tracks_[index].kind == MediaKind::video || !has_video();
}

// A track whose format is known may take kSilence to send its first frame.
bool TrackSet::is_present(std::size_t index, MediaTime now) const {
    const Track& track = tracks_[index];
    return representations_[index].muxer->knows(track.kind) && now - track.arrived.value_or(first_.value_or(now)) < kSilence;
}

std::optional<std::size_t> TrackSet::leader_at(MediaTime now) const {
    std::optional<std::size_t> best;
    const auto rank = [this](std::size_t index) {
        return (tracks_[index].extra ? 2 : 0) + (tracks_[index].kind == MediaKind::video ? 0 : 1);
    };
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        if (is_present(i, now) && (!best || rank(i) < rank(*best)))
            best = i;
    return best;
}

bool TrackSet::may_begin(std::size_t index, const Packet& packet) const {
    if (layout_ == Layout::together)
        return true;
    if (leader_at(packet.dts) != index || !can_begin_with(packet))
        return false;
    for (std::size_t i = 0; i < tracks_.size(); ++i)
        if (tracks_[i].kind != packet.kind && is_present(i, packet.dts))
            return true;
    return packet.dts - *first_ >= kSilence;
}

bool TrackSet::needs_segment(std::optional<MediaKind> kind) const {
    return std::ranges::any_of(
        tracks_, [kind](const Track& track) { return track.needs_segment && kind.value_or(track.kind) == track.kind; });
}

// By track: a track has appeared that the open segment does not contain.
bool TrackSet::joins(std::optional<MediaKind> kind, MediaTime now) const {
    for (std::size_t i = 0; layout_ == Layout::by_track && i < tracks_.size(); ++i)
        if (!representations_[i].in_segment && kind.value_or(tracks_[i].kind) == tracks_[i].kind && is_present(i, now))
            return true;
    return false;
}

bool TrackSet::lacks_a_track() const {
    return std::ranges::any_of(representations_, [](const Representation& of) { return of.in_segment && of.blocks.empty(); });
}

std::vector<TrackSet::Representation*> TrackSet::in_order(bool with_empty) {
    std::vector<Representation*> order;
    for (Representation& of : representations_)
        if (of.in_segment && (with_empty || !of.blocks.empty()))
            order.push_back(&of);
    std::ranges::sort(order, {}, [](const Representation* of) { return std::tuple(of->id.kind, of->id.extra, of->id.track); });
    return order;
}

// The last frame of each track is assumed to last as long as the previous one.
MediaTime TrackSet::end_of_last(MediaTime start) const {
    MediaTime end = start;
    for (const Track& track : tracks_)
        if (track.seen)
            end = std::max(end, track.last + track.step);
    return end;
}

}  // namespace live::service::segments
