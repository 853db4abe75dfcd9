// Packet: one access unit or configuration of one track on a source's timeline, parsed once, on arrival. The payload of an
// RTMP or FLV publisher is the body as it arrived, header included, so that RTMP and FLV relay it unchanged. The payload of
// every other publisher is the frame alone: the RTMP and FLV encoders write its header (body_header_of() in tag_packet.hpp).
// Readers use frame(), which skips the header. A Packet is a small value: copying it increments a counter and never copies the
// media.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "base/media_kind.hpp"
#include "base/time.hpp"
#include "wire/codec/frame.hpp"

namespace live::media {

using wire::codec::Codec;
using wire::codec::Content;
using wire::codec::TrackId;

// The packets that a reader gets: those of each kind's default track, those of all tracks, or also those that only RTSP and other
// nodes carry.
enum class TrackSelection : std::uint8_t { defaults, all, every };

struct Packet {
    // Microseconds in four bytes; offsets beyond that (35 minutes) cannot be presented in order anyway.
    using Offset = std::chrono::duration<std::int32_t, std::micro>;

    MediaKind kind = MediaKind::data;
    Content content = Content::other;
    bool key = false;    // a video access unit at which decoding can start; RTP data: the marker of its packet
    bool extra = false;  // not of the default track of its kind: only for multitrack readers; set by the source
    Codec codec = Codec::none;
    TrackId track{};
    std::uint16_t head = 0;  // payload bytes before the frame: the tag header; 0 if the payload is the frame alone
    MediaTime dts{};
    [[no_unique_address]] Slice payload;  // cts uses its tail padding
    Offset cts{};                         // presentation minus decoding time
    TimePoint arrived{};                  // at this server; set by the source

    // A sequence header or metadata: a late joiner needs the newest one.
    bool is_config() const { return content == Content::config; }
    bool is_of(TrackSelection tracks) const {
        if (codec == Codec::mjpeg || codec == Codec::rtp_data)
            return tracks == TrackSelection::every;
        return tracks != TrackSelection::defaults || !extra;
    }
    // RTMP and FLV must write a header before the payload. A body that has arrived with a codec has one.
    bool needs_body_header() const { return head == 0 && codec != Codec::none; }
    std::size_t frame_bytes() const {
        CHECK(head <= payload.size());
        return payload.size() - head;
    }
    Bytes frame() const { return payload.bytes().subspan(head, frame_bytes()); }
    Slice frame_slice() const { return payload.sub(head, frame_bytes()); }
};

// Returns the packet as a frame for container writers. The bytes are shared.
inline wire::codec::Frame frame_of(const Packet& packet) {
    return {.codec = packet.codec,
            .content = packet.content,
            .key = packet.key,
            .track = packet.track,
            .dts = packet.dts,
            .cts = packet.cts,
            .data = packet.frame_slice()};
}

// Whole milliseconds, rounded down.
inline std::int64_t to_ms(MediaTime time) { return std::chrono::floor<std::chrono::milliseconds>(time).count(); }

}  // namespace live::media
