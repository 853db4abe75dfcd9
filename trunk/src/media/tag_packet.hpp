// From the bodies of RTMP messages and FLV tags to packets, and from frames to packets with the head that RTMP and FLV need. For
// Ingest: nobody else looks at these heads.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "media/packet.hpp"
#include "media/track.hpp"

namespace live::media {

struct TagPacket {
    Packet packet;             // its dts is what the head adds to the message's time
    bool has_more = false;     // a multitrack message that may hold further tracks: split_tag() takes it apart
    AudioFormat audio;         // what a classic head says
    std::uint32_t fourcc = 0;  // 0 in a classic head
};

// One that has more is not to be used but for its payload. Errors as wire/flv's parsers; Errc::limit for a head above 65,535
// bytes.
Result<TagPacket> read_tag(Kind kind, Slice body);

// A body that has more, as one body for each of its tracks, the lowest track id first. Errors as wire/flv's.
Result<std::vector<Slice>> split_tag(Kind kind, Bytes body);

// The packet of a frame: a head, then its data, in one Slice; its dts is 0. The codec is one that FLV can say; of a track other
// than 0, one that has a FourCC.
TagPacket write_tag(Kind kind, const wire::codec::Frame& frame);

// What onMetaData calls a codec: the classic id where there is one, else the FourCC (E-RTMP v2, "onMetaData").
double metadata_id_of(Codec codec);

}  // namespace live::media
