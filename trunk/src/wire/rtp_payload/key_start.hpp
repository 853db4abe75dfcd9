// Where a key frame begins, seen from one packet and without putting frames together: whoever forwards packets needs to know
// where a player may begin, or where one layer may take the place of another.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bytes.hpp"

namespace live::wire::rtp_payload {

enum class VideoFormat : std::uint8_t { avc, hevc, vp8, vp9, av1 };

// By the name in a description ("H264"), without regard to case. Nothing for one that has no packets here.
std::optional<VideoFormat> video_format_of(std::string_view name);

// Does the payload hold the beginning of a key frame, or of the parameter sets in front of one? More than one packet of the
// same time may: the first of them counts. False for what is no payload of that format.
bool shows_key_picture(VideoFormat format, Bytes payload);

}  // namespace live::wire::rtp_payload
