// What a segment's bytes are made by: MPEG-TS, or fragmented MP4. The segmenter says where segments and parts begin and end, a
// packager puts packets into bytes. Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "media/packet.hpp"

namespace live::service::hls {

class Packager {
public:
    virtual ~Packager() = default;

    // What a new configuration of a kind means for the segment that is open.
    enum class Change : std::uint8_t {
        none,         // not carried, or nothing new
        in_place,     // the segment holds both
        new_segment,  // only a new segment can have it
    };
    // The configuration packet has not been written yet; no frames of it come before `begin_segment` when the answer is
    // new_segment.
    virtual Change configure(const media::Packet& config) = 0;
    // The bytes that every segment begins with.
    virtual void begin_segment(std::vector<std::uint8_t>& out) = 0;
    // One frame, in order. What it makes may come out here or with end_part(). False when nothing of it is carried.
    virtual bool add(const media::Packet& packet, std::vector<std::uint8_t>& out) = 0;
    // A part ends at `end`, where a frame of the kind `next` comes; none when nothing comes.
    virtual void end_part(MediaTime end, std::optional<media::Kind> next, std::vector<std::uint8_t>& out) = 0;
    // The bytes that players need before the segment whose part has ended last (#EXT-X-MAP); empty for MPEG-TS.
    virtual std::vector<std::uint8_t> init() const { return {}; }
};

}  // namespace live::service::hls
