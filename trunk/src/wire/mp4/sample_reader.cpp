#include "wire/mp4/sample_reader.hpp"

#include <string>
#include <utility>

#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/vp9.hpp"

namespace live::wire::mp4 {

using codec::Codec;
using codec::Content;
using codec::Frame;

namespace {

bool is_video(Codec codec) { return codec == Codec::avc || codec == Codec::hevc || codec == Codec::av1 || codec == Codec::vp9; }

bool is_audio(Codec codec) { return codec == Codec::aac || codec == Codec::opus || codec == Codec::flac || codec == Codec::mp3; }

Result<TrackFormat> format_of(Codec codec, Bytes config) {
    switch (codec) {
        case Codec::aac: return aac_format(config);
        case Codec::opus: return opus_format(config);
        case Codec::flac: return flac_format(config);
        default: return Error(Errc::unsupported, "this codec has no configuration");
    }
}

}  // namespace

bool SampleReader::carries(Codec codec) { return is_video(codec) || is_audio(codec); }

Result<std::optional<Sample>> SampleReader::push_video(const Frame& frame) {
    if (frame.content == Content::other)
        return std::optional<Sample>();
    if (!is_video(frame.codec))
        return drop(video_, frame.codec);
    if (frame.content == Content::config) {
        TRY(set_video_config(frame));
        return std::optional<Sample>();
    }
    if (frame.codec != video_.codec || frame.data.empty())
        return std::optional<Sample>();
    if (!video_.config.empty() && frame.key)
        TRY(complete_video(frame));
    if (!video_.format)
        return std::optional<Sample>();
    return std::optional(Sample{.dts = frame.dts, .pts = frame.dts + frame.cts, .key = frame.key, .data = frame.data});
}

Result<void> SampleReader::set_video_config(const Frame& frame) {
    const Bytes record = frame.data.bytes();
    if (frame.codec == Codec::vp9 || frame.codec == Codec::av1) {
        std::optional<TrackFormat> format;
        if (frame.codec == Codec::av1) {
            auto av1 = av1_format(record);
            if (!av1.ok() && av1.code() != Errc::not_found)
                return std::move(av1).error();
            if (av1.ok())
                format = std::move(av1).value();
        }
        std::vector<std::uint8_t> config(record.begin(), record.end());
        // The same configuration again: the size from a key frame remains valid.
        if (!format && config == video_.config && frame.codec == video_.codec)
            return {};
        video_.config = format ? std::vector<std::uint8_t>() : std::move(config);
        set(video_, frame, std::move(format));
        return {};
    }
    auto format = TRY(frame.codec == Codec::avc ? avc_format(record) : hevc_format(record));
    video_.config.clear();
    set(video_, frame, std::move(format));
    return {};
}

Result<void> SampleReader::complete_video(const Frame& frame) {
    const bool is_vp9 = frame.codec == Codec::vp9;
    const Bytes data = frame.data.bytes();
    const auto picture = TRY(is_vp9 ? codec::parse_vp9_key_frame(data) : codec::parse_av1_sequence_header(data));
    auto format = TRY(is_vp9 ? vp9_format(video_.config, picture) : av1_format(video_.config, &picture));
    set(video_, frame, std::move(format));
    return {};
}

Result<std::optional<Sample>> SampleReader::push_audio(const Frame& frame) {
    if (frame.codec == Codec::none || frame.content == Content::other)
        return std::optional<Sample>();
    if (!is_audio(frame.codec))
        return drop(audio_, frame.codec);
    if (frame.content == Content::config) {
        TRY(set_audio_config(frame));
        return std::optional<Sample>();
    }
    if (frame.data.empty())
        return std::optional<Sample>();
    if (frame.codec == Codec::mp3 && audio_.codec != frame.codec)
        set(audio_, frame, TRY(mp3_format(frame.data.bytes())));
    if (!audio_.format || frame.codec != audio_.codec)
        return std::optional<Sample>();
    return std::optional(Sample{.dts = frame.dts, .pts = frame.dts, .key = true, .data = frame.data});
}

Result<void> SampleReader::set_audio_config(const Frame& frame) {
    if (frame.codec == Codec::mp3)
        return {};
    set(audio_, frame, TRY(format_of(frame.codec, frame.data.bytes())));
    return {};
}

void SampleReader::set(Track& track, const Frame& frame, std::optional<TrackFormat> format) {
    if (format != track.format)
        ++version_;
    track.codec = frame.codec;
    track.format = std::move(format);
}

Error SampleReader::drop(Track& track, Codec codec) {
    track.config.clear();
    set(track, Frame{}, {});
    return {Errc::unsupported, "MP4 here cannot carry " + std::string(name_of(codec))};
}

}  // namespace live::wire::mp4
