// Tracks: the elementary streams of a source: their codecs, configurations, names and metadata, and the default ones. Every other
// part looks them up here and keeps no copy.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes/hot_lines.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/track.hpp"
#include "media/ring/track_names.hpp"

namespace live::media {

class Tracks {
public:
    // Tracks of one kind. Ingest drops the packets of further tracks.
    static constexpr std::size_t kMax = 16;
    // Tracks of one kind that renditions add to those of the publisher.
    static constexpr std::size_t kRenditionMax = 8;

    Tracks() = default;
    Tracks(const Tracks&) = delete;
    Tracks& operator=(const Tracks&) = delete;

    // Its tracks replace those of the previous publisher.
    void start_publisher();
    // Marks `packet` as `extra` unless it belongs to its kind's default track, and keeps its track's codec and configuration.
    void note(Packet& packet);
    void prefetch() const { live::prefetch_members(last_times_, has_b_frames_); }

    // All tracks seen so far, in order of appearance; a new publisher's packets replace what is known about them.
    const std::vector<Track>& all() const { return tracks_; }
    // nullptr if the track is unknown.
    const Track* find(MediaKind kind, TrackId id) const;
    // The last known one of the kind, also of an earlier publisher, never of a rendition; nullptr if unknown.
    const Track* default_of(MediaKind kind) const;
    // Players without multitrack support get the publisher's first track of a kind.
    bool is_default(MediaKind kind, TrackId id) const { return !has_default_.has(kind) || is_chosen(kind, id); }
    // Whether this publisher has sent frames or a configuration of the kind.
    bool has_default(MediaKind kind) const { return has_default_.has(kind); }
    // Whether the publisher's track is known, or can still be added.
    bool has_room_for(MediaKind kind, TrackId id) const { return is_chosen(kind, id) || has_room_for_another(kind, id); }

    // The newest metadata; empty if there was none.
    const Slice& metadata() const { return config(MediaKind::data).payload; }
    // The newest configuration of a kind's default track, or the metadata; the payload is empty if there was none.
    const Packet& config(MediaKind kind) const { return configs_[index_of(kind)]; }
    // The newest configurations of all non-default tracks.
    const std::vector<Packet>& extra_configs() const { return extra_configs_; }
    // The newest configuration of a track; nullptr if there was none.
    const Packet* config_of(MediaKind kind, TrackId id) const;
    // The same for the track that `choice` selects.
    const Packet* config_of(MediaKind kind, const TrackChoice& choice) const;
    // Counts changes of codecs and configurations.
    std::uint32_t version() const { return version_; }
    // Counts changes of metadata and configurations.
    std::uint32_t config_version() const { return config_version_; }

    // This publisher's container announces these kinds: a program map, metadata, an offer. Their frames may arrive late.
    void announce(MediaKindSet kinds) { announced_.add(kinds); }
    // Audio and video that this publisher has announced, and those that any has configured or sent.
    MediaKindSet expected_kinds() const;
    // Time of the latest audio or video packet of the default track, if there was one.
    std::optional<MediaTime> last_time(MediaKind kind) const { return last_times_[index_of(kind)]; }
    // Whether frames arrived that are presented before an earlier one (B-frames). Reset by a new publisher.
    bool has_b_frames() const { return has_b_frames_; }
    void note_b_frames() { has_b_frames_ = true; }

    // Adds a track of a rendition under the highest free id and returns it; nullopt if there are kRenditionMax of the kind. The
    // id of `name` is ignored. A packet of the publisher with the same id removes the tracks of the rendition.
    std::optional<TrackId> add_rendition_track(RenditionId rendition, const TrackName& name);
    // Removes the tracks of a rendition.
    void remove_rendition(RenditionId rendition);
    // Marks `packet` as `extra`, and keeps the codec and configuration of the rendition's track, which is known.
    void note_rendition(Packet& packet);

    // The publisher's container describes audio that its packets do not describe.
    void note_audio(TrackId id, Codec codec, const AudioFormat& audio) {
        const Known& known = known_[index_of(MediaKind::audio)];
        if (!is_chosen(MediaKind::audio, id) || codec != known.codec || audio != known.audio)
            set_audio(id, codec, audio);
    }
    // Players that join get no metadata until the publisher sends some again.
    void forget_metadata();
    // The publisher's metadata about its tracks, including tracks that appear later; or the names of the renditions of a relayed
    // stream, whose tracks arrive as the publisher's, and which the metadata does not have.
    enum class NamesOf : bool { publisher, relayed_renditions };
    void name_tracks(std::vector<TrackName> names, NamesOf of = NamesOf::publisher);
    // The metadata requests the publisher's own timestamps (atc_auto).
    void request_publisher_time(bool on) { wants_publisher_time_ = on; }
    bool wants_publisher_time() const { return wants_publisher_time_; }

private:
    // The default track of a kind, found without a search in tracks_.
    struct Known {
        Codec codec = Codec::none;
        AudioFormat audio;
        std::uint8_t nal_length_size = 4;
    };

    bool is_chosen(MediaKind kind, TrackId id) const { return has_default_.has(kind) && defaults_[index_of(kind)] == id; }
    bool has_room_for_another(MediaKind kind, TrackId id) const;
    void choose_default(const Packet& packet);
    void forget_extra_tracks();
    void set_audio(TrackId id, Codec codec, const AudioFormat& audio);
    Packet& kept_config(const Packet& packet);
    void note_new(Packet& packet);
    void remember_config(const Packet& packet);
    void note_track(const Packet& packet);
    Track& track_of(MediaKind kind, TrackId id);

    // Each packet needs these, up to has_b_frames_.
    std::array<std::optional<MediaTime>, kMediaKindCount> last_times_;
    std::array<TrackId, kMediaKindCount> defaults_{};
    MediaKindSet has_default_;  // of this publisher
    std::array<Known, kMediaKindCount> known_{};
    MediaKindSet announced_;  // by this publisher
    bool has_b_frames_ = false;

    bool wants_publisher_time_ = false;
    std::uint32_t version_ = 0;
    std::uint32_t config_version_ = 0;
    std::array<Packet, kMediaKindCount> configs_;  // of the default tracks
    std::vector<Packet> extra_configs_;
    std::vector<Track> tracks_;             // few; the default one is the publisher's first of its kind
    std::size_t rendition_tracks_ = 0;      // of tracks_
    std::vector<TrackName> track_names_;    // in the latest metadata, at most kMax of a kind
    std::vector<TrackName> relayed_names_;  // of renditions
};

// Returns the closed captions of all video tracks.
wire::codec::CaptionServices captions_of(const Tracks& tracks);

// Whether the packet belongs to a rendition, or to one that has left.
inline bool is_of_rendition(const Packet& packet, const Tracks& tracks) {
    if (!packet.extra || packet.kind == MediaKind::data)
        return false;
    const Track* const track = tracks.find(packet.kind, packet.track);
    return track == nullptr || track->rendition != RenditionId::none;
}

}  // namespace live::media
