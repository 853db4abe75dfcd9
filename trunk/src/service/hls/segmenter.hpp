// Segmenter: where one stream's segments, and the parts inside them, begin and end. Packets go in, in their order; whole segments
// and parts come out as bytes. It knows media time only: no clock, no file, no playlist. Dry.
//
// A segment is cut at the first key frame behind `cut_at`, or any frame when keys are not waited for; on a audio frame
// behind `hard_cut_at`, for streams without video or with too few keys. Where a new decoder configuration needs a segment of
// its own, that is cut at the next key frame too, whichever kind it is of, and what cannot be decoded without it is left out
// until then. The segments cover the timeline without a hole: one ends where the next begins.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/block.hpp"
#include "base/time.hpp"
#include "media/packet.hpp"
#include "service/hls/packager.hpp"

namespace live::service::hls {

struct CutRules {
    MediaTime cut_at = 10s;
    MediaTime hard_cut_at = 21s;
    bool waits_for_key = true;
    // Of a part; none: a segment is made as one.
    std::optional<MediaTime> part;
};

// A part is complete.
struct PartMade {
    MediaTime duration{};
    bool independent = false;    // begins with a key frame, or is of audio alone
    bool discontinuity = false;  // of the segment it is in
    std::vector<Block> blocks;
    Block init;  // what its segment needs first; none for MPEG-TS
};

// A segment is complete; its parts have been told before, and its blocks hold theirs.
struct SegmentMade {
    MediaTime start{};
    MediaTime duration{};
    bool discontinuity = false;
    std::vector<Block> blocks;
    std::size_t bytes = 0;
    Block init;
};

using Made = std::variant<PartMade, SegmentMade>;

class Segmenter {
public:
    // No rule cuts below this.
    static constexpr MediaTime kCutMin = 200ms;
    // What is shorter, at the end or in front of a new configuration, is left out; unless parts of it have been told.
    static constexpr MediaTime kKeptMin = 100ms;
    // A segment that grows over this is cut at the next frame, whatever it is.
    static constexpr std::size_t kSegmentBytesMax = 64 << 20;
    // Bytes that are put together before they become a block.
    static constexpr std::size_t kBlockBytes = 256 << 10;

    Segmenter(const CutRules& rules, std::unique_ptr<Packager> packager);

    // The next packet of the stream.
    void push(const media::Packet& packet);
    // Ends the segment where its last frame ends: the stream is over, or packets are missing. What follows is a discontinuity.
    void interrupt();
    // The same, and what follows is another publisher's.
    void restart(std::unique_ptr<Packager> packager);

    // What was made since the last call, in order.
    std::vector<Made> take();

    const Packager& packager() const { return *packager_; }
    bool is_open() const { return open_; }
    // Of the open segment.
    std::size_t bytes() const { return block_bytes_; }

private:
    struct Track {
        bool seen = false;  // a frame of it is in the stream
        MediaTime last{};
        MediaTime step{};  // from the one before to the last
        std::vector<std::uint8_t> config;
    };

    Track& track(media::Kind kind) { return tracks_[media::index_of(kind)]; }
    void configure(const media::Packet& packet);
    bool is_wanted(const media::Packet& packet) const;
    bool cuts(const media::Packet& packet) const;
    bool ends_part(const media::Packet& packet) const;
    void open(MediaTime at);
    void close(MediaTime at, std::optional<media::Kind> next = {});
    void end_part(MediaTime at, std::optional<media::Kind> next);
    void keep_init();
    void seal();
    void note(const media::Packet& packet);
    MediaTime end_of_last() const;

    CutRules rules_;
    std::unique_ptr<Packager> packager_;
    std::array<Track, media::kKindCount> tracks_;
    std::vector<Made> made_;

    Block init_;
    MediaTime covered_{};  // up to here there are segments
    bool open_ = false;
    MediaTime start_{};
    bool discontinuity_ = false;             // of the open segment
    bool next_discontinuity_ = true;         // of the one that is opened next
    std::optional<media::Kind> cut_before_;  // a frame of this kind needs a new segment
    std::vector<std::uint8_t> output_;       // not in a block yet
    std::vector<Block> blocks_;
    std::size_t block_bytes_ = 0;
    bool has_frames_ = false;

    MediaTime part_start_{};
    std::size_t part_block_ = 0;  // the part's first
    bool part_independent_ = false;
    bool part_has_frames_ = false;
    bool told_parts_ = false;  // of the open segment
};

}  // namespace live::service::hls
