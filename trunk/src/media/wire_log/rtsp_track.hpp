// RtspTrack: how an RTSP player receives a track of a source: the payload type and the clock of its RTP packets, and its channel
// on the connection. The description and the packets are made from the same values.
#pragma once

#include <cstdint>
#include <optional>

#include "media/ring/packet.hpp"

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

// The first of the two channels of a track on the connection: for RTP, then RTCP. The order is that of the description: video, if
// there is any, then audio.
enum class RtspLayout : std::uint8_t { video_first, audio_only };
constexpr std::uint8_t rtsp_channel_of(MediaKind kind, RtspLayout layout) {
    return kind == MediaKind::audio && layout == RtspLayout::video_first ? 2 : 0;
}

}  // namespace live::media
