// The codecs that streams here have, by name. What their bytes say is in the files beside this one.
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
    // opaque: relayed as it is by formats that can
    unknown,
};

// "H264", "HEVC", "AAC", ...: what logs and the API say.
std::string_view name_of(Codec codec);

}  // namespace live::wire::codec
