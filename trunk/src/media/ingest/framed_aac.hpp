// AAC in ADTS or LATM inside RTMP and FLV bodies, as some encoders send it: recognised by its bytes, and split into the raw
// frames and the configuration that these bodies carry.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "media/ring/packet.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/latm.hpp"

namespace live::media {

class FramedAac {
public:
    // In one body; the rest of it is dropped.
    static constexpr std::size_t kFramesMax = 64;

    struct Frames {
        std::vector<std::uint8_t> config;  // empty: part of the frames, or not received yet
        wire::codec::AudioSpecificConfig parsed;
        std::vector<Slice> raw;
    };

    // Whether read() may find frames in the body, or has found some in an earlier one. False for most bodies of raw AAC.
    bool may_read(Bytes body) const { return has_read_ || (!body.empty() && (body[0] == 0xFF || body[0] == 0x56)); }
    // None: the body holds raw AAC. The caller bounds the number of tracks.
    std::optional<Frames> read(TrackId track, Bytes body);
    // Reports whether a body with framed AAC has arrived on this track.
    bool has_come(TrackId track) const { return tracks_.test(static_cast<std::uint8_t>(track)); }

private:
    bool has_read_ = false;
    std::bitset<256> tracks_;
    std::map<TrackId, wire::codec::LatmReader> latm_;
};

}  // namespace live::media
