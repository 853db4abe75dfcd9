// Segmenter: where one stream's segments, and the parts inside them, begin and end. Packets go in, in their order; headers,
// segments and parts come out as bytes, of one representation or several, which are all cut at the same places. It knows media
// time only: no clock, no file, no manifest. Dry.
//
// The leader decides: the default video where there is some, else the default audio. A segment is cut at the first key frame
// after `cut_at`, or any video frame when keys are not waited for; at an audio frame after `hard_cut_at`, for streams with too
// few keys. Where a new format needs a segment of its own, that is cut at the next key frame too, whichever track it is of, and
// frames that cannot be decoded without it are left out until then.
//
// Together, the default tracks are one representation, and segments cover the timeline without a hole: one ends where the next
// begins. By track, each track is a representation of its own, and a segment begins with a frame that the leader can begin with.
// Which tracks there are is decided anew for each segment: those whose format is known and that have sent a frame of late.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/block.hpp"
#include "base/time.hpp"
#include "media/packet.hpp"
#include "media/source.hpp"
#include "service/segments/muxer.hpp"

namespace live::service::segments {

struct CutRules {
    MediaTime cut_at = 10s;
    // With video, at any audio frame; none: keys are waited for however long that takes.
    std::optional<MediaTime> hard_cut_at = 21s;
    // Without video.
    MediaTime audio_cut_at = 21s;
    bool waits_for_key = true;
    // Of a part; none: a segment is made as one.
    std::optional<MediaTime> part;
    // A segment that lacks a track that its parts had is dropped: players count segments alike for all tracks.
    bool whole_only = false;
};

// What one representation holds: a track, or the default tracks together.
struct RepresentationId {
    std::optional<media::Kind> kind;  // none: together
    media::TrackId track{};
    bool extra = false;  // not the default of its kind

    // "" for all together, "video" and "audio" for the default tracks, "audio-2" for another.
    std::string name() const;
    // What the source knows of it; nullptr together, and when that is nothing. Another publisher's default track may have another
    // id.
    const media::Track* track_of(const media::Source& source) const;
};

struct Header {
    RepresentationId id;
    std::optional<wire::mp4::TrackFormat> format;  // of one track
    Block init;                                    // what players need first; none for MPEG-TS
};
// The representations of all that comes after this, in order: audio before video, default tracks first, others by their ids.
struct HeadersChanged {
    std::vector<Header> headers;
};

// What one representation has in a part or segment; no blocks where it has nothing.
struct Piece {
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    bool independent = false;  // a part: it begins with a key frame, or is of audio alone
    Extent extent;             // a segment: as its container says it; that of the cut where it does not
};

// A part is complete.
struct PartMade {
    std::uint64_t number = 0;    // of its segment
    bool begins = false;         // the segment
    bool discontinuity = false;  // of the segment
    MediaTime segment_start{};
    MediaTime start{};
    MediaTime duration{};
    std::vector<Piece> pieces;  // as in the headers
};

// A segment is complete; its parts have been told before, and its blocks hold theirs.
struct SegmentMade {
    std::uint64_t number = 0;
    bool discontinuity = false;
    MediaTime start{};
    MediaTime duration{};
    std::vector<Piece> pieces;  // as in the headers
};

// Parts of this segment have been told, and it came to nothing.
struct SegmentDropped {
    std::uint64_t number = 0;
};

using Made = std::variant<HeadersChanged, PartMade, SegmentMade, SegmentDropped>;

class Segmenter {
public:
    // No rule cuts below this.
    static constexpr MediaTime kCutMin = 200ms;
    // What is shorter, at the end or in front of a new format, is left out; unless parts of it have been told.
    static constexpr MediaTime kKeptMin = 100ms;
    // A segment that grows over this is cut at the next frame, whatever it is; by track at the leader's next.
    static constexpr std::size_t kSegmentBytesMax = 64 << 20;
    // Bytes that are put together before they become a block.
    static constexpr std::size_t kBlockBytes = 256 << 10;
    // By track: a track that has sent nothing for so long is not there, and so long the first segment waits for the other kind.
    static constexpr MediaTime kSilence = 1s;
    // What comes of more tracks is left out.
    static constexpr std::size_t kTracksMax = 32;

    enum class Layout : std::uint8_t { together, by_track };
    // Makes one for each representation.
    using MakeMuxer = std::function<std::unique_ptr<Muxer>()>;

    Segmenter(const CutRules& rules, Layout layout, MakeMuxer make_muxer);

    // The next packet of the stream. Together, only the default tracks' count.
    void push(const media::Packet& packet);
    // Ends the segment where its last frame ends: the stream is over, or packets are missing. What follows is a discontinuity.
    void interrupt();
    // The same, and what follows is another publisher's.
    void restart();
    // The same, in another form.
    void restart(Layout layout, MakeMuxer make_muxer);

    // What was told of headers is gone: they are told again.
    void forget_headers() { told_.clear(); }

    // What was made since the last call, in order.
    std::vector<Made> take() { return std::exchange(made_, {}); }

    Layout layout() const { return layout_; }
    // Of the open segment.
    std::size_t bytes() const { return open_ ? bytes_ : 0; }
    // Of the next segment, or of the open one.
    std::uint64_t number() const { return number_; }

private:
    struct Track {
        media::Kind kind = media::Kind::audio;
        media::TrackId id{};
        bool extra = false;
        bool seen = false;  // a frame of it is in the stream
        MediaTime last{};
        MediaTime step{};                  // from the one before to the last
        std::optional<MediaTime> arrived;  // the newest frame, whether it is in a segment or not
        bool needs_segment = false;        // its next frame
        std::vector<std::uint8_t> config;
    };
    struct Representation {
        RepresentationId id;
        std::unique_ptr<Muxer> muxer;
        bool in_segment = false;           // its frames may be in the open one
        std::vector<std::uint8_t> output;  // not in a block yet
        std::vector<Block> blocks;         // of the segment
        std::size_t bytes = 0;             // of the segment
        std::size_t part_block = 0;        // the part's first
        bool independent = false;          // the part
    };
    enum class Cut : std::uint8_t { none, segment, hard };

    std::optional<std::size_t> index_of(const media::Packet& packet);
    void add_representation(const RepresentationId& id);
    Representation& representation(std::size_t track) { return representations_[layout_ == Layout::together ? 0 : track]; }
    const Representation& representation(std::size_t track) const {
        return representations_[layout_ == Layout::together ? 0 : track];
    }
    void learn(std::size_t index, const media::Packet& packet);
    bool is_wanted(const Track& track, const media::Packet& packet) const;
    bool can_begin_with(const media::Packet& packet) const;
    bool has_video() const;
    bool leads(std::size_t index) const;
    bool is_there(std::size_t index, MediaTime now) const;
    std::optional<std::size_t> leader_at(MediaTime now) const;
    bool may_begin(std::size_t index, const media::Packet& packet) const;
    bool needs_segment(std::optional<media::Kind> kind) const;
    bool joins(std::optional<media::Kind> kind, MediaTime now) const;
    Cut cut_before(std::size_t index, const media::Packet& packet) const;
    Cut video_cut(std::size_t index, const media::Packet& packet) const;
    Cut audio_cut(std::size_t index, const media::Packet& packet) const;
    bool ends_part(std::size_t index, const media::Packet& packet) const;
    void add(std::size_t index, const media::Packet& packet);
    void open(MediaTime at);
    void close(MediaTime at, std::optional<std::size_t> next);
    void end_part(MediaTime at, std::optional<std::size_t> next);
    void abandon();
    bool lacks_a_track() const;
    std::vector<Representation*> in_order(bool with_empty);
    void tell_headers(const std::vector<Representation*>& representations);
    void seal(Representation& of);
    MediaTime end_of_last() const;

    CutRules rules_;
    Layout layout_;
    MakeMuxer make_muxer_;
    std::vector<Track> tracks_;
    std::vector<Representation> representations_;  // one, or each track's at its track's place
    std::vector<Header> told_;
    std::vector<Made> made_;

    std::uint64_t number_ = 0;
    MediaTime covered_{};             // up to here there are segments
    std::optional<MediaTime> first_;  // frame of this publisher, by track
    std::size_t leader_ = 0;          // of the open segment, by track
    bool open_ = false;
    MediaTime start_{};
    bool discontinuity_ = false;      // of the open segment
    bool next_discontinuity_ = true;  // of the one that is opened next
    bool has_frames_ = false;
    std::size_t bytes_ = 0;  // of the open segment

    MediaTime part_start_{};
    bool part_has_frames_ = false;
    bool told_parts_ = false;  // of the open segment
};

}  // namespace live::service::segments
