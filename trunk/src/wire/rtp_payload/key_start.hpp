// Detects key frame starts in single packets, without reassembling frames. Packet forwarding uses it to find where a player may
// start, and where it may switch between simulcast layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes/bytes.hpp"

namespace live::wire::rtp_payload {

enum class VideoFormat : std::uint8_t { avc, hevc, vp8, vp9, av1 };

// By the SDP encoding name ("H264"), case-insensitive; nullopt for an unsupported codec.
std::optional<VideoFormat> video_format_of(std::string_view name);

// Whether the payload contains the start of a key frame or of the parameter sets before one. Several packets with the same
// timestamp may; the first one counts. False for an invalid payload.
bool shows_key_frame(VideoFormat format, Bytes payload);

}  // namespace live::wire::rtp_payload
