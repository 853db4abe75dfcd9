// Muxer: makes a segment's bytes of packets, MPEG-TS or CMAF. The segmenter decides where segments and parts begin and end. Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "media/packet.hpp"
#include "wire/mp4/track_format.hpp"

namespace live::service::segments {

// A stretch of media time, as the container says it.
struct Extent {
    MediaTime start{};
    MediaTime duration{};
};

class Muxer {
public:
    virtual ~Muxer() = default;

    // What a new format of a kind means for the open segment.
    enum class Change : std::uint8_t {
        none,         // not carried, or nothing new
        in_place,     // the segment holds both
        new_segment,  // only a new segment can have it
    };
    // Whether the packet may bring a new format: a configuration, or a frame of a codec without one.
    virtual bool tells_format(const media::Packet& packet) const { return packet.is_config(); }
    // Takes the format of such a packet, which is not written yet. No frames of it come before begin_segment() when the answer is
    // new_segment.
    virtual Change configure(const media::Packet& packet) = 0;
    // Whether frames of that kind can be carried now.
    virtual bool knows(media::Kind kind) const = 0;
    // The bytes that every segment begins with.
    virtual void begin_segment(std::vector<std::uint8_t>& out) = 0;
    // One frame, in order. Its bytes may come out here or with end_part(). False when nothing of it is carried.
    virtual bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) = 0;
    // A part ends at `end`, where a frame of the kind `next` comes; none when nothing comes.
    virtual void end_part(MediaTime end, std::optional<media::Kind> next, std::vector<std::uint8_t>& out) = 0;

    // What players need before the open segment; empty for MPEG-TS.
    virtual std::vector<std::uint8_t> init() const { return {}; }
    // Of the only track; none for MPEG-TS and for several tracks together.
    virtual std::optional<wire::mp4::TrackFormat> format() const { return {}; }
    // Of the only track in the segment that end_part() has ended; none for MPEG-TS and for several tracks together.
    virtual std::optional<Extent> extent() const { return {}; }
};

}  // namespace live::service::segments
