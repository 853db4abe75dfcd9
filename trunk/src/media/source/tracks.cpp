#include "media/source/tracks.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "wire/codec/decoder_config.hpp"

namespace live::media {

namespace {

void set_name(Track& track, const std::vector<TrackName>& names) {
    const auto is_its = [&track](const TrackName& name) { return name.kind == track.kind && name.id == track.id; };
    const auto name = std::ranges::find_if(names, is_its);
    track.language = name == names.end() ? "" : name->language;
    track.name = name == names.end() ? "" : name->name;
}

// The publisher's own name is preferred. Renditions of this node keep theirs.
void set_name(Track& track, const std::vector<TrackName>& publishers, const std::vector<TrackName>& relayed) {
    if (track.rendition != RenditionId::none)
        return;
    set_name(track, publishers);
    if (track.name.empty() && !relayed.empty())
        set_name(track, relayed);
}

// Nearly all frames begin with a slice, whose type is the only byte that is read.
bool has_front_sei(const Packet& packet, std::uint8_t length_size) {
    return (packet.codec == Codec::avc || packet.codec == Codec::hevc) &&
           wire::codec::has_front_sei(packet.codec, length_size, packet.frame());
}

void read_captions(const Packet& packet, Track& track) {
    if (has_front_sei(packet, track.nal_length_size))
        track.captions.read(packet.codec, track.nal_length_size, packet.frame());
}

}  // namespace

void Tracks::start_publisher() {
    has_b_frames_ = false;
    has_default_.clear();
    announced_.clear();
    forget_extra_tracks();
    relayed_names_.clear();
    name_tracks({});
    for (Track& track : tracks_)
        track.captions = {};
}

void Tracks::note(Packet& packet) {
    const std::size_t kind = index_of(packet.kind);
    const bool is_known_frame =
        packet.content == Content::frame && is_chosen(packet.kind, packet.track) && packet.codec == known_[kind].codec;
    if (!is_known_frame)
        return note_new(packet);
    packet.extra = false;
    last_times_[kind] = packet.dts;
    if (has_front_sei(packet, known_[kind].nal_length_size))
        read_captions(packet, track_of(packet.kind, packet.track));
}

// A packet that may change what is known: a track's first frame, a configuration, data.
void Tracks::note_new(Packet& packet) {
    const std::size_t kind = index_of(packet.kind);
    if (packet.kind != MediaKind::data) {
        if (rendition_tracks_ != 0)
            if (const Track* const taken = find(packet.kind, packet.track); taken && taken->rendition != RenditionId::none)
                remove_rendition(taken->rendition);
        if (!has_default_.has(packet.kind) && packet.content != Content::other)
            choose_default(packet);
        packet.extra = packet.track != defaults_[kind];
    }
    if (packet.is_config())
        remember_config(packet);
    else if (!packet.extra)
        last_times_[kind] = packet.dts;
    note_track(packet);
    if (packet.kind == MediaKind::video && packet.content == Content::frame)
        read_captions(packet, track_of(packet.kind, packet.track));
}

MediaKindSet Tracks::expected_kinds() const {
    MediaKindSet kinds = announced_;
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
        if (last_time(kind) || config(kind).is_config())
            kinds.add(kind);
    return kinds;
}

// Tracks that are not known to this publisher belong to a former one.
void Tracks::choose_default(const Packet& packet) {
    has_default_.add(packet.kind);
    TrackId& id = defaults_[index_of(packet.kind)];
    if (id == packet.track)
        return;
    id = packet.track;
    known_[index_of(packet.kind)] = {};
    configs_[index_of(packet.kind)] = {};
    std::erase_if(tracks_, [&packet](const Track& track) {
        return track.kind == packet.kind && track.id != packet.track && track.rendition == RenditionId::none;
    });
    ++version_;
    ++config_version_;
}

void Tracks::forget_extra_tracks() {
    const auto forgotten = std::erase_if(tracks_, [this](const Track& track) {
        return track.id != defaults_[index_of(track.kind)] || track.rendition != RenditionId::none ||
               track.kind == MediaKind::data;
    });
    rendition_tracks_ = 0;
    if (forgotten == 0 && extra_configs_.empty())
        return;
    extra_configs_.clear();
    ++version_;
    ++config_version_;
}

bool Tracks::has_room_for_another(MediaKind kind, TrackId id) const {
    std::size_t others = 0;
    for (const Track& track : tracks_) {
        if (track.kind != kind || track.rendition != RenditionId::none)
            continue;
        if (track.id == id)
            return true;
        ++others;
    }
    return others < kMax;
}

const Packet* Tracks::config_of(MediaKind kind, TrackId id) const {
    if (const Packet& config = configs_[index_of(kind)]; config.is_config() && config.track == id)
        return &config;
    for (const Packet& config : extra_configs_)
        if (config.kind == kind && config.track == id)
            return &config;
    return nullptr;
}

const Packet* Tracks::config_of(MediaKind kind, const TrackChoice& choice) const {
    const std::optional<TrackId>& named = kind == MediaKind::audio ? choice.audio : choice.video;
    const Packet* const found = named ? config_of(kind, *named) : &config(kind);
    return found != nullptr && found->is_config() ? found : nullptr;
}

Packet& Tracks::kept_config(const Packet& packet) {
    if (!packet.extra)
        return configs_[index_of(packet.kind)];
    for (Packet& kept : extra_configs_)
        if (kept.kind == packet.kind && kept.track == packet.track)
            return kept;
    return extra_configs_.emplace_back();
}

void Tracks::remember_config(const Packet& packet) {
    Packet& kept = kept_config(packet);
    kept = packet;
    // Kept indefinitely, so it must not keep the memory block it shares with other packets.
    kept.payload = Slice::copy_of(packet.payload.bytes());
    kept.dts = {};
    kept.arrived = {};
    ++config_version_;
}

Track& Tracks::track_of(MediaKind kind, TrackId id) {
    for (Track& track : tracks_)
        if (track.kind == kind && track.id == id)
            return track;
    Track& added = tracks_.emplace_back();
    added.id = id;
    added.kind = kind;
    set_name(added, track_names_, relayed_names_);
    return added;
}

void Tracks::forget_metadata() {
    configs_[index_of(MediaKind::data)] = {};
    ++config_version_;
    name_tracks({});
}

void Tracks::name_tracks(std::vector<TrackName> names, NamesOf of) {
    std::vector<TrackName>& known = of == NamesOf::publisher ? track_names_ : relayed_names_;
    if (of == NamesOf::relayed_renditions && known == names)
        return;
    known = std::move(names);
    for (Track& track : tracks_)
        set_name(track, track_names_, relayed_names_);
    if (of == NamesOf::relayed_renditions)
        ++version_;
}

void Tracks::note_track(const Packet& packet) {
    const bool is_metadata = packet.kind == MediaKind::data && packet.codec != Codec::rtp_data;
    if (is_metadata || packet.codec == Codec::none || packet.content == Content::other)
        return;
    Known& known = known_[index_of(packet.kind)];
    if (!packet.extra && packet.codec == known.codec && !packet.is_config())
        return;
    Track& track = track_of(packet.kind, packet.track);
    if (!packet.extra)
        known.codec = packet.codec;
    if (packet.codec == track.codec && !packet.is_config())
        return;
    if (packet.codec != track.codec) {
        track.codec = packet.codec;
        track.config = {};
    }
    if (packet.is_config())
        track.config = kept_config(packet).frame_slice();
    if (packet.is_config() && packet.kind == MediaKind::video)
        track.nal_length_size = wire::codec::nal_length_size_of(packet.codec, track.config.bytes());
    if (!packet.extra)
        known.nal_length_size = track.nal_length_size;
    ++version_;
}

std::optional<TrackId> Tracks::add_rendition_track(RenditionId rendition, const TrackName& name) {
    const auto is_added = [&name](const Track& track) { return track.kind == name.kind && track.rendition != RenditionId::none; };
    if (static_cast<std::size_t>(std::ranges::count_if(tracks_, is_added)) >= kRenditionMax)
        return std::nullopt;
    // Publishers number their tracks from 0. There are fewer tracks than ids.
    std::uint8_t id = std::numeric_limits<std::uint8_t>::max();
    while (find(name.kind, TrackId(id)) != nullptr || is_chosen(name.kind, TrackId(id)))
        --id;
    Track& added = tracks_.emplace_back();
    added.id = TrackId(id);
    added.kind = name.kind;
    added.language = name.language;
    added.name = name.name;
    added.rendition = rendition;
    ++rendition_tracks_;
    ++version_;
    return added.id;
}

void Tracks::remove_rendition(RenditionId rendition) {
    const auto is_its = [rendition](const Track& track) { return track.rendition == rendition; };
    for (const Track& track : tracks_)
        if (is_its(track))
            std::erase_if(extra_configs_,
                          [&](const Packet& config) { return config.kind == track.kind && config.track == track.id; });
    const auto removed = std::erase_if(tracks_, is_its);
    rendition_tracks_ -= removed;
    if (removed == 0)
        return;
    ++version_;
    ++config_version_;
}

void Tracks::note_rendition(Packet& packet) {
    packet.extra = true;
    if (packet.is_config())
        remember_config(packet);
    note_track(packet);
    if (packet.kind == MediaKind::video && packet.content == Content::frame)
        read_captions(packet, track_of(packet.kind, packet.track));
}

void Tracks::set_audio(TrackId id, Codec codec, const AudioFormat& audio) {
    Track& track = track_of(MediaKind::audio, id);
    if (is_chosen(MediaKind::audio, id))
        known_[index_of(MediaKind::audio)] = {codec, audio};
    if (codec != track.codec) {
        track.codec = codec;
        track.config = {};
        ++version_;
    }
    track.audio = audio;
}

const Track* Tracks::find(MediaKind kind, TrackId id) const {
    const auto track = std::ranges::find_if(tracks_, [&](const Track& known) { return known.kind == kind && known.id == id; });
    return track == tracks_.end() ? nullptr : &*track;
}

const Track* Tracks::default_of(MediaKind kind) const {
    const auto is_publishers = [kind](const Track& track) { return track.kind == kind && track.rendition == RenditionId::none; };
    const auto track = std::ranges::find_if(tracks_, is_publishers);
    return track == tracks_.end() ? nullptr : &*track;
}

wire::codec::CaptionServices captions_of(const Tracks& tracks) {
    wire::codec::CaptionServices all;
    for (const Track& track : tracks.all()) {
        all.channels |= track.captions.found().channels;
        all.services |= track.captions.found().services;
    }
    return all;
}

}  // namespace live::media
