// The codecs FLV and RTMP can name, in both spellings: the four-bit ids of the classic tag header and the FourCCs of enhanced
// RTMP. Nothing here looks into the media itself; wire/codec does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace live::wire::flv {

enum class VideoCodec : std::uint8_t { none, sorenson, screen, vp6, vp6_alpha, screen2, avc, hevc, av1, vp9, vp8, unknown };

enum class AudioCodec : std::uint8_t {
    none,
    pcm,
    adpcm,
    mp3,
    nellymoser,
    aac,
    speex,
    opus,
    ac3,
    eac3,
    flac,
    g711a,
    g711u,
    unknown,
};

// What one audio or video tag is for.
enum class PacketKind : std::uint8_t {
    sequence_header,  // the decoder's configuration; a late joiner needs the newest one
    frames,
    end_of_sequence,  // also the empty audio message: silence until further notice
    metadata,         // AMF about the pictures, such as colour; no pictures
    channel_config,   // which speaker a channel belongs to
    command,          // client-side seeking begins or ends
    other,            // legal, but of no use to us
};

// "H264", "HEVC", "AAC", ...: what logs and the API say.
std::string_view name_of(VideoCodec codec);
std::string_view name_of(AudioCodec codec);

constexpr std::uint32_t fourcc(char a, char b, char c, char d) {
    const auto byte = [](char letter) { return static_cast<std::uint32_t>(static_cast<unsigned char>(letter)); };
    return byte(a) << 24 | byte(b) << 16 | byte(c) << 8 | byte(d);
}

// E-RTMP v2, VideoFourCc and AudioFourCc. The unknown codec for a FourCC that is not there, nothing for a codec that has none.
VideoCodec video_codec_of(std::uint32_t fourcc);
AudioCodec audio_codec_of(std::uint32_t fourcc);
std::optional<std::uint32_t> fourcc_of(VideoCodec codec);
std::optional<std::uint32_t> fourcc_of(AudioCodec codec);

}  // namespace live::wire::flv
