// How FLV and RTMP identify codecs (the FourCCs of enhanced RTMP; the four-bit IDs of the classic header are beside their
// parsers), and the purposes of tags. Does not parse media; wire/codec does.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/codec/codec.hpp"

namespace live::wire::flv {

using codec::Codec;

// The purpose of one audio or video tag.
enum class PacketKind : std::uint8_t {
    sequence_header,  // the decoder configuration; a late joiner needs the newest one
    frames,
    end_of_sequence,  // also the empty audio message: silence until further data
    metadata,         // AMF metadata about the frames, such as color; no video
    channel_config,   // the speaker of each channel
    command,          // start or end of client-side seeking
    other,            // valid, but not used
};

constexpr std::uint32_t fourcc(char a, char b, char c, char d) {
    const auto byte = [](char letter) { return static_cast<std::uint32_t>(static_cast<unsigned char>(letter)); };
    return byte(a) << 24 | byte(b) << 16 | byte(c) << 8 | byte(d);
}

// E-RTMP v2, VideoFourCc and AudioFourCc. An unlisted FourCC gives the unknown codec; a codec without a FourCC gives nullopt.
Codec video_codec_of(std::uint32_t fourcc);
Codec audio_codec_of(std::uint32_t fourcc);
std::optional<std::uint32_t> fourcc_of(Codec codec);

}  // namespace live::wire::flv
