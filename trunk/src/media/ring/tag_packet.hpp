// Converts bodies of RTMP messages and FLV tags to packets, and back: body_header_of() makes the header that a packet of a
// frame lacks. Ingest alone parses these headers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/track.hpp"
#include "wire/flv/body_header.hpp"

namespace live::media {

struct TagPacket {
    Packet packet;                // its dts is the header's offset to the message time
    bool has_more = false;        // a multitrack message that may hold further tracks: split with split_tag()
    bool reserved_type = false;   // video with a reserved frame type: see set_frame_type()
    bool may_be_annex_b = false;  // video that begins as an Annex B byte stream does
    AudioFormat audio{};          // from a classic header
    std::uint32_t fourcc = 0;     // 0 for a classic header

    // Whether none of the three is set: the packet can be used as it is.
    bool is_plain() const { return !has_more && !reserved_type && !may_be_annex_b; }
};

// Returns the packet of a body. If `has_more` is set, only the payload may be used. Errors as in wire/flv's parsers; Errc::limit
// for a header above 65,535 bytes.
Result<TagPacket> read_tag(MediaKind kind, Slice body);

// Writes the frame type into the header: of a key frame or a sequence header, or of another frame. The payload is copied.
void set_frame_type(TagPacket& tagged, bool key);

// Splits a body with has_more into one body per track, lowest track id first. Errors as in wire/flv.
Result<std::vector<Slice>> split_tag(MediaKind kind, Bytes body);

// Returns the packet of a frame; its dts is 0. FLV must support the codec; a track id other than 0 needs a codec with a
// FourCC. A frame that is a small part of its memory is copied.
Packet make_packet(MediaKind kind, wire::codec::Frame frame);

// Returns the header that RTMP and FLV write before the payload; empty if the payload begins with one.
wire::flv::BodyHeader make_body_header(const Packet& packet);
inline wire::flv::BodyHeader body_header_of(const Packet& packet) {
    return packet.needs_body_header() ? make_body_header(packet) : wire::flv::BodyHeader();
}

// The codec id in onMetaData: the classic id if there is one, else the FourCC (E-RTMP v2, "onMetaData").
double metadata_id_of(Codec codec);

}  // namespace live::media
