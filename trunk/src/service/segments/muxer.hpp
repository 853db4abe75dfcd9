// Muxer: turns packets into the bytes of a segment, MPEG-TS or CMAF. The segmenter decides where segments and parts begin and
// end. Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/timed_event.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::service::segments {

// An interval of media time, as written in the container.
struct Extent {
    MediaTime start{};
    MediaTime duration{};
};

// Everything except frames and configurations that the bytes of a segment depend on: opaque, for another muxer of the same kind.
using MuxerState = std::vector<std::uint64_t>;

class Muxer {
public:
    // Numbers in a state. Further ones are ignored.
    static constexpr std::size_t kStateMax = 64;

    virtual ~Muxer() = default;

    // The effect of a new format on the open segment.
    enum class Change : std::uint8_t {
        none,         // not supported, or not a change
        in_place,     // the segment can contain both
        new_segment,  // requires a new segment
    };
    // Reports whether the packet may have a new format: a configuration, or a frame if the codec has no configuration.
    virtual bool may_change_format(const media::Packet& packet) const { return packet.is_config(); }
    // Reads the format from a packet for which may_change_format() is true and which is not written yet. If this returns
    // new_segment, no frames of that format are added before begin_segment().
    virtual Change configure(const media::Packet& packet) = 0;
    // Reports whether the container can carry frames of that kind now.
    virtual bool knows(MediaKind kind) const = 0;
    // Writes the bytes at the start of every segment. `resumed`: continues where another node's muxer began the same segment.
    virtual void begin_segment(std::vector<std::uint8_t>& out, const MuxerState* resumed = nullptr) = 0;
    // The state after the last begin_segment(), before the first frame.
    virtual MuxerState state() const = 0;
    // Adds one frame, in order. Its bytes are written here or by end_part(). False: the container cannot carry it.
    virtual bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) = 0;
    // Adds a timed event, where the container has a place for it.
    virtual void add_event([[maybe_unused]] const media::TimedEvent& event, [[maybe_unused]] std::vector<std::uint8_t>& out) {}
    // Ends a part at `end`. The next frame is of the kind `next`, or there is none.
    virtual void end_part(MediaTime end, std::optional<MediaKind> next, std::vector<std::uint8_t>& out) = 0;

    // The initialization section of the open segment; empty for MPEG-TS.
    virtual std::vector<std::uint8_t> init() const { return {}; }
    // The format of a single track; none for MPEG-TS and for several tracks together.
    virtual std::optional<wire::mp4::TrackFormat> format() const { return {}; }
    // The extent of a single track in the segment that end_part() has ended; none for MPEG-TS and for several tracks together.
    virtual std::optional<Extent> extent() const { return {}; }
};

}  // namespace live::service::segments
