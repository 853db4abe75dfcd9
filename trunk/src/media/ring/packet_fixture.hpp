// For tests: packets made from tag bodies, without an Ingest.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "media/ring/tag_packet.hpp"
#include "media/source/source.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::media {

// A packet whose payload is not parsed.
inline Packet plain_packet(MediaKind kind, bool key, bool config, MediaTime dts, Slice payload) {
    Packet packet;
    packet.kind = kind;
    packet.content = config ? Content::config : kind == MediaKind::data ? Content::other : Content::frame;
    packet.key = key;
    packet.dts = dts;
    packet.payload = std::move(payload);
    return packet;
}

// A packet of a body that may be broken: then it has no codec. The test decides whether it is a key frame; the
// header is ignored.
inline Packet tag_packet(MediaKind kind, bool key, bool config, MediaTime dts, const Slice& body) {
    if (kind == MediaKind::data)
        return plain_packet(kind, key, config, dts, body);
    auto tagged = read_tag(kind, body);
    if (!tagged.ok())
        return plain_packet(kind, key, config, dts, body);
    tagged->packet.key = key;
    tagged->packet.dts = dts;
    return tagged->packet;
}

// Like Ingest, without its timeline.
inline void append_tag(Source& source, MediaKind kind, bool key, bool config, MediaTime dts, const Slice& body) {
    if (kind == MediaKind::audio)
        if (const auto tagged = read_tag(kind, body); tagged.ok())
            source.tracks().note_audio(tagged->packet.track, tagged->packet.codec, tagged->audio);
    source.append(tag_packet(kind, key, config, dts, body));
}

inline Slice tag_body(Bytes head, Bytes rest = {}) {
    ByteWriter out;
    out.bytes(head).bytes(rest);
    return Slice::copy_of(out.written());
}

// The body that RTMP and FLV send for a packet.
inline std::vector<std::uint8_t> body_of(const Packet& packet) {
    ByteWriter out;
    out.bytes(body_header_of(packet).view()).bytes(packet.payload.bytes());
    return out.release();
}

inline Slice avc_config_body() { return tag_body(hex("17 00 000000"), wire::codec::avc_vectors().front().record); }
inline Slice aac_config_body() { return tag_body(hex("af 00 1210")); }

}  // namespace live::media
