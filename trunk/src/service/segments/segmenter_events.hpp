// The events of a segmenter, in the order in which the outputs handle them: one queue from the segmenter to the manifest's
// writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes/block.hpp"
#include "base/text/utc_text.hpp"
#include "base/time.hpp"
#include "media/ring/splice_points.hpp"
#include "media/source/source.hpp"
#include "service/segments/muxer.hpp"

namespace live::service::segments {

// Packets of further tracks are dropped.
inline constexpr std::size_t kTracksMax = 32;

// Identifies a representation: one track, or the default tracks together.
struct RepresentationId {
    std::optional<MediaKind> kind;  // none: the default tracks together
    media::TrackId track{};
    bool extra = false;  // not the default of its kind

    // "" for the default tracks together, "video" and "audio" for a single default track, "audio-2" for another track.
    std::string name() const;
    // The source's description of the track; nullptr for the default tracks together, and when unknown. Another publisher's
    // default track may have a different id.
    const media::Track* track_of(const media::Source& source) const;
};

struct Header {
    RepresentationId id;
    std::optional<wire::mp4::TrackFormat> format;  // of a single track
    Block init;                                    // initialization section; nullptr for MPEG-TS
};
// The representations of all following events, in order: audio before video, default tracks first, others by id.
struct HeadersChanged {
    std::vector<Header> headers;
};

// The content of one representation in a part or segment; no blocks when it is empty.
struct Piece {
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    bool independent = false;  // of a part: starts with a key frame, or is audio only
    // The first video frame of the segment, or of its parts so far, is a key frame; true without video.
    bool starts_with_key = true;
    Extent extent;  // of a segment: as written in the container, otherwise that of the cut
};

// A part is complete. `duration` is the duration in the playlist: a gap after the last frame is not part of it.
struct PartMade {
    std::uint64_t number = 0;    // of its segment
    bool begins = false;         // first part of the segment
    bool discontinuity = false;  // of the segment
    MediaTime segment_start{};
    MediaTime start{};
    MediaTime duration{};
    std::optional<UtcTime> date{};  // of the segment; the manifest's writer fills it in
    std::vector<Piece> pieces;      // in the order of the headers
};

// A segment is complete; its parts have already been emitted, and its blocks include theirs.
struct SegmentMade {
    std::uint64_t number = 0;
    bool discontinuity = false;
    MediaTime start{};
    MediaTime duration{};
    std::vector<Piece> pieces;      // in the order of the headers
    std::optional<UtcTime> date{};  // the manifest's writer fills it in
};

// A segment whose parts have been emitted, but which will not be completed.
struct SegmentDropped {
    std::uint64_t number = 0;
};

// Everything except the packets from its first frame on that the bytes of a segment and the following cuts depend on. Two nodes
// with equal states that segment the same packets stay equal.
struct SegmentState {
    struct Track {
        MediaKind kind = MediaKind::audio;
        media::TrackId id{};
        bool extra = false;
        bool seen = false;
        MediaTime last{};
        MediaTime step{};
        std::optional<MediaTime> arrived;

        bool operator==(const Track&) const = default;
    };

    std::uint64_t number = 0;
    bool by_track = false;
    bool discontinuity = false;
    // The frame that it begins with.
    MediaKind kind = MediaKind::audio;
    media::TrackId track{};
    MediaTime at{};
    // The same as the members of Segmenter.
    MediaTime covered{};
    std::optional<MediaTime> first;
    std::uint64_t leader = 0;
    std::vector<Track> tracks;
    std::vector<MuxerState> muxers;
    // A hash of the frames in the previous segment.
    std::uint64_t frames_before = 0;
    // The newest splices: a node that joins cuts in the same places.
    std::vector<media::SplicePoints::Splice> splices;

    bool operator==(const SegmentState&) const = default;
};

// Returns the representations in the order of `state.muxers`.
std::vector<RepresentationId> representations_of(const SegmentState& state);

// A segment has begun.
struct SegmentOpened {
    SegmentState state;
};

// A publisher's last segment has ended. `number` is that of the next segment, `frames` the hash of the ended one's frames.
struct SegmentsEnded {
    std::uint64_t number = 0;
    std::uint64_t frames = 0;

    bool operator==(const SegmentsEnded&) const = default;
};

// How the node that has the publisher describes one segment to the nodes that relay the stream, so that they make the same
// segments: the state at its beginning, or the end of a publisher's last segment.
struct SegmentSync {
    // Limits. A text beyond them is refused, and none is written.
    static constexpr std::size_t kTracksMax = segments::kTracksMax;
    static constexpr std::size_t kListMax = 4 + 4 * kTracksMax;
    // The limit of times and other numbers, so that sums stay in range. Hashes may be larger.
    static constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 53;

    // A hash of the settings that decide the segments' bytes. Nodes with other settings make other segments.
    std::uint64_t rules = 0;
    // Identifies the sender. Another output, or the same one after a restart, counts its own segments.
    std::uint64_t instance = 0;
    std::variant<SegmentState, SegmentsEnded> event;
    // Numbers of the manifest's writer, opaque here.
    std::vector<std::uint64_t> list;

    bool operator==(const SegmentSync&) const = default;
};

// A timed event has arrived. Its time is of presentation; frames of this stream are decoded `lead` earlier.
struct EventFound {
    media::TimedEvent event;
    MediaTime lead{};
};

// The following events belong to the segment of `sync`, which does not follow the last emitted segment. Only on a node that
// relays the stream.
struct Resumed {
    SegmentSync sync;
    bool is_same_instance = false;  // as in the previous Resumed
};

using SegmenterEvent =
    std::variant<HeadersChanged, PartMade, SegmentMade, SegmentDropped, SegmentOpened, SegmentsEnded, Resumed, EventFound>;

}  // namespace live::service::segments
