// RtspTrack: how an RTSP player receives a track of a source: the payload type and the clock of its RTP packets, and its channel
// on the connection. The description and the packets are made from the same values.
#pragma once

#include <cstdint>
#include <optional>

#include "media/ring/packet.hpp"
#include "media/wire_log/track_list.hpp"

namespace live::media {

struct RtspTrack {
    MediaKind kind = MediaKind::video;
    Codec codec = Codec::none;
    std::uint8_t payload_type = 0;
    std::uint32_t clock_rate = 0;
    std::uint8_t channels = 1;

    bool operator==(const RtspTrack&) const = default;
};

// `config` is the decoder configuration; empty for a codec without one. nullopt for a codec that RTP does not carry here, and
// without a configuration that it needs.
std::optional<RtspTrack> rtsp_track_of(MediaKind kind, Codec codec, Bytes config);

// The same at a place of a description: further tracks of a kind and those of data have payload types of their own.
std::optional<RtspTrack> rtsp_track_at(const TrackList& list, std::size_t place, Codec codec, Bytes config);

// The first of the two channels of a track on the connection: for RTP, then RTCP.
constexpr std::uint8_t rtsp_channel_of(std::size_t place) { return static_cast<std::uint8_t>(2 * place); }

}  // namespace live::media
