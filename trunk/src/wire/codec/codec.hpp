// The codecs that streams may use, by name. The files beside this one parse their data.
#pragma once

#include <cstdint>
#include <string_view>

namespace live::wire::codec {

enum class Codec : std::uint8_t {
    none,
    // video
    sorenson,
    screen,
    vp6,
    vp6_alpha,
    screen2,
    avc,
    hevc,
    av1,
    vp9,
    vp8,
    mjpeg,  // JPEG images
    // audio
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
    // opaque: relayed unchanged by formats that can carry it
    unknown,
    // data: the payload of an RTP packet, passed on to RTSP players
    rtp_data,
};

// "H264", "HEVC", "AAC", ..., as used in logs and the API.
std::string_view name_of(Codec codec);

}  // namespace live::wire::codec
