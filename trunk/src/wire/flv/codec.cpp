#include "wire/flv/codec.hpp"

#include <array>

namespace live::wire::flv {

namespace {

template <class Codec>
struct Row {
    Codec codec;
    std::uint32_t fourcc;
};

using VideoRow = Row<VideoCodec>;
using AudioRow = Row<AudioCodec>;

constexpr std::array kVideo = {
    VideoRow{VideoCodec::avc, fourcc('a', 'v', 'c', '1')}, VideoRow{VideoCodec::hevc, fourcc('h', 'v', 'c', '1')},
    VideoRow{VideoCodec::av1, fourcc('a', 'v', '0', '1')}, VideoRow{VideoCodec::vp9, fourcc('v', 'p', '0', '9')},
    VideoRow{VideoCodec::vp8, fourcc('v', 'p', '0', '8')},
};

constexpr std::array kAudio = {
    AudioRow{AudioCodec::aac, fourcc('m', 'p', '4', 'a')}, AudioRow{AudioCodec::opus, fourcc('O', 'p', 'u', 's')},
    AudioRow{AudioCodec::mp3, fourcc('.', 'm', 'p', '3')}, AudioRow{AudioCodec::flac, fourcc('f', 'L', 'a', 'C')},
    AudioRow{AudioCodec::ac3, fourcc('a', 'c', '-', '3')}, AudioRow{AudioCodec::eac3, fourcc('e', 'c', '-', '3')},
};

}  // namespace

std::string_view name_of(VideoCodec codec) {
    switch (codec) {
        case VideoCodec::none: return "none";
        case VideoCodec::sorenson: return "H263";
        case VideoCodec::screen: return "ScreenVideo";
        case VideoCodec::vp6: return "VP6";
        case VideoCodec::vp6_alpha: return "VP6A";
        case VideoCodec::screen2: return "ScreenVideo2";
        case VideoCodec::avc: return "H264";
        case VideoCodec::hevc: return "HEVC";
        case VideoCodec::av1: return "AV1";
        case VideoCodec::vp9: return "VP9";
        case VideoCodec::vp8: return "VP8";
        case VideoCodec::unknown: break;
    }
    return "unknown";
}

std::string_view name_of(AudioCodec codec) {
    switch (codec) {
        case AudioCodec::none: return "none";
        case AudioCodec::pcm: return "PCM";
        case AudioCodec::adpcm: return "ADPCM";
        case AudioCodec::mp3: return "MP3";
        case AudioCodec::nellymoser: return "Nellymoser";
        case AudioCodec::aac: return "AAC";
        case AudioCodec::speex: return "Speex";
        case AudioCodec::opus: return "Opus";
        case AudioCodec::ac3: return "AC3";
        case AudioCodec::eac3: return "EAC3";
        case AudioCodec::flac: return "FLAC";
        case AudioCodec::g711a: return "G711A";
        case AudioCodec::g711u: return "G711U";
        case AudioCodec::unknown: break;
    }
    return "unknown";
}

VideoCodec video_codec_of(std::uint32_t fourcc) {
    for (const auto& row : kVideo)
        if (row.fourcc == fourcc)
            return row.codec;
    return VideoCodec::unknown;
}

AudioCodec audio_codec_of(std::uint32_t fourcc) {
    for (const auto& row : kAudio)
        if (row.fourcc == fourcc)
            return row.codec;
    return AudioCodec::unknown;
}

std::optional<std::uint32_t> fourcc_of(VideoCodec codec) {
    for (const auto& row : kVideo)
        if (row.codec == codec)
            return row.fourcc;
    return std::nullopt;
}

std::optional<std::uint32_t> fourcc_of(AudioCodec codec) {
    for (const auto& row : kAudio)
        if (row.codec == codec)
            return row.fourcc;
    return std::nullopt;
}

}  // namespace live::wire::flv
