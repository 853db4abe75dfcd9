#include "wire/codec/codec.hpp"

namespace live::wire::codec {

std::string_view name_of(Codec codec) {
    switch (codec) {
        case Codec::none: return "none";
        case Codec::sorenson: return "H263";
        case Codec::screen: return "ScreenVideo";
        case Codec::vp6: return "VP6";
        case Codec::vp6_alpha: return "VP6A";
        case Codec::screen2: return "ScreenVideo2";
        case Codec::avc: return "H264";
        case Codec::hevc: return "HEVC";
        case Codec::av1: return "AV1";
        case Codec::vp9: return "VP9";
        case Codec::vp8: return "VP8";
        case Codec::mjpeg: return "MJPEG";
        case Codec::rtp_data: return "DATA";
        case Codec::pcm: return "PCM";
        case Codec::adpcm: return "ADPCM";
        case Codec::mp3: return "MP3";
        case Codec::nellymoser: return "Nellymoser";
        case Codec::aac: return "AAC";
        case Codec::speex: return "Speex";
        case Codec::opus: return "Opus";
        case Codec::ac3: return "AC3";
        case Codec::eac3: return "EAC3";
        case Codec::flac: return "FLAC";
        case Codec::g711a: return "G711A";
        case Codec::g711u: return "G711U";
        case Codec::unknown: break;
    }
    return "unknown";
}

}  // namespace live::wire::codec
