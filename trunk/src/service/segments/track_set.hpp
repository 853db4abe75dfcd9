// TrackSet: the tracks of a stream that a segmenter cuts, and their representations. It answers which track leads, which tracks
// are present, and which frame may begin a segment. Dry.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "service/segments/muxer.hpp"
#include "service/segments/segmenter_events.hpp"

namespace live::service::segments {

class TrackSet {
public:
    // By track: a track silent for this long is considered absent; the first segment also waits this long for the other kind.
    static constexpr MediaTime kSilence = 1s;

    enum class Layout : std::uint8_t { together, by_track };
    // Creates one muxer per representation.
    using MakeMuxer = std::function<std::unique_ptr<Muxer>()>;

    struct Track {
        MediaKind kind = MediaKind::audio;
        media::TrackId id{};
        bool extra = false;
        bool seen = false;   // a frame of it has been accepted
        bool begun = false;  // a frame that players can start with has arrived
        MediaTime last{};
        MediaTime step{};                         // between the last two frames
        std::optional<MediaTime> arrived;         // newest frame, whether or not it is in a segment
        bool needs_segment = false;               // for its next frame
        media::Codec codec = media::Codec::none;  // of its configuration
        std::uint64_t config_hash = 0;
    };
    struct Representation {
        RepresentationId id;
        std::unique_ptr<Muxer> muxer;
        bool in_segment = false;           // its frames can go into the open segment
        std::vector<std::uint8_t> output;  // not yet in a block
        std::vector<Block> blocks;         // of the segment
        std::size_t bytes = 0;             // of the segment
        std::size_t part_block = 0;        // first block of the part
        bool independent = false;          // the part starts with a key frame, or is audio only
        bool has_video = false;            // the segment has frames of video
        bool starts_with_key = true;       // the first of them is a key frame
    };

    // `waits_for_key`: video begins with a key frame.
    explicit TrackSet(bool waits_for_key) : waits_for_key_(waits_for_key) {}

    // Drops all tracks.
    void restart(Layout layout, MakeMuxer make_muxer);
    void restart() { restart(layout_, std::move(make_muxer_)); }
    Layout layout() const { return layout_; }

    // Returns the index of the packet's track, which is added if it is new; none if there are kTracksMax.
    std::optional<std::size_t> index_of(const media::Packet& packet);
    std::size_t size() const { return tracks_.size(); }
    bool empty() const { return tracks_.empty(); }
    Track& operator[](std::size_t index) { return tracks_[index]; }
    const Track& operator[](std::size_t index) const { return tracks_[index]; }
    auto begin() { return tracks_.begin(); }
    auto end() { return tracks_.end(); }
    auto begin() const { return tracks_.begin(); }
    auto end() const { return tracks_.end(); }

    // One, or one per track at the same index.
    std::vector<Representation>& representations() { return representations_; }
    const std::vector<Representation>& representations() const { return representations_; }
    Representation& representation(std::size_t track) { return representations_[layout_ == Layout::together ? 0 : track]; }
    const Representation& representation(std::size_t track) const {
        return representations_[layout_ == Layout::together ? 0 : track];
    }
    // Returns the representations in the open segment, in the order of HeadersChanged.
    std::vector<Representation*> in_order(bool with_empty);
    // Whether a representation in the open segment is empty.
    bool lacks_a_track() const;

    // Whether a video track has frames in the open segment.
    bool has_video() const;
    // Whether the track decides the cuts.
    bool leads(std::size_t index) const;
    bool is_present(std::size_t index, MediaTime now) const;
    // By track: the track that leads a segment that begins now.
    std::optional<std::size_t> leader_at(MediaTime now) const;
    bool can_begin_with(const media::Packet& packet) const;
    bool is_decodable(const Track& track, const media::Packet& packet) const;
    // Whether a segment may begin with the packet.
    bool may_begin(std::size_t index, const media::Packet& packet) const;
    // Whether a track of the kind, or any, needs a new segment for its format.
    bool needs_segment(std::optional<MediaKind> kind) const;
    bool joins(std::optional<MediaKind> kind, MediaTime now) const;
    // The end of the last frame of a segment that has begun at `start`.
    MediaTime end_of_last(MediaTime start) const;

    // By track: the leader of the open segment, and the time of this publisher's first frame.
    std::size_t& leader() { return leader_; }
    std::size_t leader() const { return leader_; }
    std::optional<MediaTime>& first() { return first_; }
    const std::optional<MediaTime>& first() const { return first_; }

private:
    void add_representation(const RepresentationId& id);

    const bool waits_for_key_;
    Layout layout_ = Layout::together;
    MakeMuxer make_muxer_;
    std::vector<Track> tracks_;
    std::vector<Representation> representations_;
    std::optional<MediaTime> first_;
    std::size_t leader_ = 0;
};

}  // namespace live::service::segments
