// Segmenter: decides where a stream's segments and their parts begin and end. Input is packets in order; output is headers,
// segments and parts as bytes, of one or several representations, all cut at the same places. It uses media time only: no clock,
// no file, no manifest. Dry.
//
// The leader determines the cuts: the default video if there is any, otherwise the default audio. A segment is cut at the first
// key frame after `cut_at`, or at any video frame when key frames are not required; and at an audio frame after `hard_cut_at`,
// for streams with too few key frames. A new format that needs its own segment is also cut at the next key frame, whichever track
// it belongs to, and frames that cannot be decoded without it are dropped until then. At a splice (SCTE 35), a segment is cut at
// the first frame that may begin one and is shown at or after the splice.
//
// Together, the default tracks are one representation, and segments cover the timeline without gaps: each ends where the next
// begins. By track, each track is a separate representation, and a segment begins with a frame that the leader can start with.
// The set of tracks is decided for each segment: those whose format is known and that have recently sent a frame.
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
#include "service/segments/track_set.hpp"

namespace live::service::segments {

struct CutRules {
    MediaTime cut_at = 10s;
    // With video: from this time on the segment is cut even without a key frame, at an audio frame. nullopt: waits for a key
    // frame without limit.
    std::optional<MediaTime> hard_cut_at = 21s;
    // Without video.
    MediaTime audio_cut_at = 21s;
    bool waits_for_key = true;
    // Part duration; none: segments have no parts.
    std::optional<MediaTime> part;
    // Drops a segment without data for a track that its parts announced: players expect the same segment numbers for all tracks.
    bool whole_only = false;
    // Segments that players may request before they begin. The first segment with another header gets the number after these: a
    // player that waits for them has the previous header.
    std::uint64_t named_ahead = 0;
};

class Segmenter {
public:
    // Minimum duration before any cut rule applies.
    static constexpr MediaTime kCutMin = 200ms;
    // Segments shorter than this, at the end of a stream or before a new format, are dropped unless parts of them were already
    // emitted.
    static constexpr MediaTime kKeptMin = 100ms;
    // A segment larger than this is cut at the next frame of any kind; by track, at the leader's next frame.
    static constexpr std::size_t kSegmentBytesMax = 64 << 20;
    // Bytes collected into one block.
    static constexpr std::size_t kBlockBytes = 256 << 10;
    static constexpr MediaTime kSilence = TrackSet::kSilence;
    // Packets of further tracks are dropped.
    static constexpr std::size_t kTracksMax = segments::kTracksMax;

    using Layout = TrackSet::Layout;
    using MakeMuxer = TrackSet::MakeMuxer;

    Segmenter(const CutRules& rules, Layout layout, MakeMuxer make_muxer);

    // Adds the next packet of the stream. Together, only the default tracks are used.
    void push(const media::Packet& packet);
    // Provides memory for the output of `next`, the packet of the next push(): empty, of sufficient capacity. Optional.
    void give_buffer(const media::Packet& next, std::vector<std::uint8_t> room);
    // Ends the segment at the end of its last frame: the stream is over, or packets are missing. A discontinuity follows.
    void interrupt();
    // The same before another publisher's packets.
    void restart();
    // Call before packets of another timeline, whose times may be earlier.
    void leave_timeline() { covered_ = {}; }
    // The same as restart(), with a different layout.
    void restart(Layout layout, MakeMuxer make_muxer);

    // The next segment gets this number. No segment may be open.
    void skip_to(std::uint64_t number) { number_ = number; }
    // Drops the open segment, and emits SegmentDropped if it has emitted parts.
    void drop_open();
    // Drops the open segment, and continues from `state`, which another segmenter has emitted. The next packet must be the frame
    // that begins the segment. `formats` has each track's format: its configuration, or a frame if the codec has none.
    void resume(const SegmentState& state, const std::vector<media::Packet>& formats);

    // Makes the next segment emit its headers again.
    void forget_headers() { emitted_headers_.clear(); }

    // Returns the queued events in order.
    std::vector<SegmenterEvent> take() { return std::exchange(events_, {}); }
    // The event queue. A follower holds events back in it, and replaces them.
    std::vector<SegmenterEvent>& events() { return events_; }

    // Returns the blocks of dropped segments since the last call: tens of MiB, which the caller frees off the loop.
    std::vector<Block> take_dropped_blocks() { return std::exchange(dropped_blocks_, {}); }

    Layout layout() const { return tracks_.layout(); }
    bool has_parts() const { return rules_.part.has_value(); }
    bool is_open() const { return open_; }
    // The hash of the frames in the open segment, otherwise in the last one.
    std::uint64_t frames_hash() const { return frames_hash_; }
    // The size of the open segment.
    std::size_t bytes() const { return open_ ? bytes_ : 0; }
    // The number of the open segment, otherwise of the next one.
    std::uint64_t number() const { return number_; }

private:
    enum class Cut : std::uint8_t { none, segment, hard };

    void note_format(std::size_t index, const media::Packet& packet);
    void push_event(const media::Packet& packet);
    bool is_cut_by_splice(const media::Packet& packet) const;
    Cut cut_before(std::size_t index, const media::Packet& packet) const;
    Cut audio_cut(std::size_t index, const media::Packet& packet) const;
    bool ends_part(std::size_t index, const media::Packet& packet) const;
    void add(std::size_t index, const media::Packet& packet);
    void open(std::size_t index, const media::Packet& packet);
    void note_state(std::size_t index, const media::Packet& packet);
    void emit_restored_splices();
    void close(MediaTime at, std::optional<std::size_t> next);
    void end_part(MediaTime at, std::optional<std::size_t> next);
    MediaTime part_duration(MediaTime end) const;
    void abandon();
    void drop_blocks();
    void emit_headers(const std::vector<TrackSet::Representation*>& representations);
    void seal(TrackSet::Representation& of);

    CutRules rules_;
    TrackSet tracks_;
    std::vector<Header> emitted_headers_;
    std::vector<SegmenterEvent> events_;
    std::vector<Block> dropped_blocks_;

    std::uint64_t number_ = 0;
    MediaTime covered_{};  // end of the newest segment
    bool open_ = false;
    MediaTime start_{};
    bool discontinuity_ = false;      // of the open segment
    bool next_discontinuity_ = true;  // of the segment opened next
    bool has_frames_ = false;
    std::size_t bytes_ = 0;  // of the open segment

    MediaTime part_start_{};
    bool part_has_frames_ = false;
    bool part_has_leader_ = false;    // frames of it
    bool has_emitted_parts_ = false;  // parts of the open segment have been emitted

    std::uint64_t frames_hash_ = 0;                   // of the open segment, or the last one
    std::optional<std::vector<MuxerState>> resumed_;  // of the segment that the next packet begins
    media::SplicePoints splices_;
};

}  // namespace live::service::segments
