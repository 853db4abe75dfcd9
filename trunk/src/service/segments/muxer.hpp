// Muxer: turns packets into the bytes of a segment, MPEG-TS or CMAF. The segmenter decides where segments and parts begin and
// end. Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::service::segments {

// An interval of media time, as written in the container.
struct Extent {
    MediaTime start{};
    MediaTime duration{};
};

// What the bytes of a segment depend on besides its frames and configurations, for another node's muxer of the same kind: opaque.
using MuxerState = std::vector<std::uint64_t>;

class Muxer {
public:
    // Numbers of a state; of more, the rest is ignored.
    static constexpr std::size_t kStateMax = 64;

    virtual ~Muxer() = default;

    // What a new format of a kind requires of the open segment.
    enum class Change : std::uint8_t {
        none,         // not supported, or not a change
        in_place,     // the segment can contain both
        new_segment,  // requires a new segment
    };
    // Whether the packet may introduce a new format: a configuration, or a frame of a codec without one.
    virtual bool tells_format(const media::Packet& packet) const { return packet.is_config(); }
    // Reads the format from such a packet, which is not written yet. After new_segment no frames of that format are added before
    // begin_segment().
    virtual Change configure(const media::Packet& packet) = 0;
    // Whether frames of that kind can be carried now.
    virtual bool knows(MediaKind kind) const = 0;
    // Writes the bytes at the start of every segment. `resumed`: continues where another node's muxer began the same segment.
    virtual void begin_segment(std::vector<std::uint8_t>& out, const MuxerState* resumed = nullptr) = 0;
    // As of the last begin_segment(), before anything was added.
    virtual MuxerState state() const = 0;
    // Adds one frame, in order. Its bytes are written here or by end_part(). False when nothing of it can be carried.
    virtual bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) = 0;
    // Ends a part at `end`, where a frame of the kind `next` follows; none when nothing follows.
    virtual void end_part(MediaTime end, std::optional<MediaKind> next, std::vector<std::uint8_t>& out) = 0;

    // The initialization section of the open segment; empty for MPEG-TS.
    virtual std::vector<std::uint8_t> init() const { return {}; }
    // Of a single track; none for MPEG-TS and for several tracks together.
    virtual std::optional<wire::mp4::TrackFormat> format() const { return {}; }
    // Of a single track in the segment last ended by end_part(); none for MPEG-TS and for several tracks together.
    virtual std::optional<Extent> extent() const { return {}; }
};

}  // namespace live::service::segments
