// How FLV and RTMP name codecs (the FourCCs of enhanced RTMP; the four-bit ids of the classic header are beside their parsers)
// and what a tag is for. Nothing here looks into the media itself; wire/codec does.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/codec/codec.hpp"

namespace live::wire::flv {

using codec::Codec;

// What one audio or video tag is for.
enum class PacketKind : std::uint8_t {
    sequence_header,  // the decoder's configuration; a late joiner needs the newest one
    frames,
    end_of_sequence,  // also the empty audio message: silence until further notice
    metadata,         // AMF about the frames, such as colour; no video
    channel_config,   // which speaker a channel belongs to
    command,          // client-side seeking begins or ends
    other,            // legal, but of no use to us
};

constexpr std::uint32_t fourcc(char a, char b, char c, char d) {
    const auto byte = [](char letter) { return static_cast<std::uint32_t>(static_cast<unsigned char>(letter)); };
    return byte(a) << 24 | byte(b) << 16 | byte(c) << 8 | byte(d);
}

// E-RTMP v2, VideoFourCc and AudioFourCc. The unknown codec for a FourCC that is not there, nothing for a codec that has none.
Codec video_codec_of(std::uint32_t fourcc);
Codec audio_codec_of(std::uint32_t fourcc);
std::optional<std::uint32_t> fourcc_of(Codec codec);

}  // namespace live::wire::flv
