#include "wire/mp4/sample_reader.hpp"

#include <string>
#include <utility>

#include "wire/codec/av1.hpp"
#include "wire/codec/vp9.hpp"

namespace live::wire::mp4 {

namespace {

MediaTime with_offset(MediaTime time, std::chrono::nanoseconds offset) { return time + std::chrono::floor<MediaTime>(offset); }

// `part` borrows from `whole`.
Slice owned_part(const Slice& whole, Bytes part) {
    return part.empty() ? Slice() : whole.sub(static_cast<std::size_t>(part.data() - whole.data()), part.size());
}

Result<TrackFormat> format_of(flv::AudioCodec codec, Bytes config) {
    switch (codec) {
        case flv::AudioCodec::aac: return aac_format(config);
        case flv::AudioCodec::opus: return opus_format(config);
        case flv::AudioCodec::flac: return flac_format(config);
        default: return Error(Errc::unsupported, "this codec has no configuration");
    }
}

}  // namespace

bool SampleReader::carries(flv::VideoCodec codec) {
    using enum flv::VideoCodec;
    return codec == avc || codec == hevc || codec == av1 || codec == vp9;
}

bool SampleReader::carries(flv::AudioCodec codec) {
    using enum flv::AudioCodec;
    return codec == aac || codec == opus || codec == flac || codec == mp3;
}

Result<std::optional<Sample>> SampleReader::push_video(MediaTime dts, const Slice& body) {
    const auto tag = TRY(flv::parse_video_tag(body.bytes()));
    const bool is_config = tag.kind == flv::PacketKind::sequence_header;
    if (!is_config && tag.kind != flv::PacketKind::frames)
        return std::optional<Sample>();
    if (!carries(tag.codec))
        return drop(video_, tag.codec);
    if (is_config) {
        TRY(set_video_config(tag));
        return std::optional<Sample>();
    }
    if (tag.codec != video_.codec || tag.track_id != video_.id || tag.body.empty())
        return std::optional<Sample>();
    if (!video_.config.empty() && tag.key)
        TRY(complete_video(tag));
    if (!video_.format)
        return std::optional<Sample>();
    dts = with_offset(dts, tag.timestamp_offset);
    return std::optional(Sample{.dts = dts, .pts = dts + tag.composition, .key = tag.key, .data = owned_part(body, tag.body)});
}

Result<void> SampleReader::set_video_config(const flv::VideoTag& tag) {
    if (video_.format && tag.track_id != video_.id)
        return {};
    if (tag.codec == flv::VideoCodec::vp9 || tag.codec == flv::VideoCodec::av1) {
        std::optional<TrackFormat> format;
        if (tag.codec == flv::VideoCodec::av1) {
            auto av1 = av1_format(tag.body);
            if (!av1.ok() && av1.code() != Errc::not_found)
                return std::move(av1).error();
            if (av1.ok())
                format = std::move(av1).value();
        }
        std::vector<std::uint8_t> config(tag.body.begin(), tag.body.end());
        // The same once more: the size that a key frame said still holds.
        if (!format && config == video_.config && tag.codec == video_.codec)
            return {};
        video_.config = format ? std::vector<std::uint8_t>() : std::move(config);
        set(video_, tag.codec, tag.track_id, std::move(format));
        return {};
    }
    auto format = TRY(tag.codec == flv::VideoCodec::avc ? avc_format(tag.body) : hevc_format(tag.body));
    video_.config.clear();
    set(video_, tag.codec, tag.track_id, std::move(format));
    return {};
}

Result<void> SampleReader::complete_video(const flv::VideoTag& tag) {
    const bool is_vp9 = tag.codec == flv::VideoCodec::vp9;
    const auto picture = TRY(is_vp9 ? codec::parse_vp9_key_frame(tag.body) : codec::parse_av1_sequence_header(tag.body));
    auto format = TRY(is_vp9 ? vp9_format(video_.config, picture) : av1_format(video_.config, &picture));
    set(video_, tag.codec, tag.track_id, std::move(format));
    return {};
}

Result<std::optional<Sample>> SampleReader::push_audio(MediaTime dts, const Slice& body) {
    const auto tag = TRY(flv::parse_audio_tag(body.bytes()));
    const bool is_config = tag.kind == flv::PacketKind::sequence_header;
    if (tag.codec == flv::AudioCodec::none || (!is_config && tag.kind != flv::PacketKind::frames))
        return std::optional<Sample>();
    if (!carries(tag.codec))
        return drop(audio_, tag.codec);
    if (is_config) {
        TRY(set_audio_config(tag));
        return std::optional<Sample>();
    }
    if (tag.body.empty())
        return std::optional<Sample>();
    if (tag.codec == flv::AudioCodec::mp3 && audio_.codec != tag.codec)
        set(audio_, tag.codec, tag.track_id, TRY(mp3_format(tag.body)));
    if (!audio_.format || tag.codec != audio_.codec || tag.track_id != audio_.id)
        return std::optional<Sample>();
    dts = with_offset(dts, tag.timestamp_offset);
    return std::optional(Sample{.dts = dts, .pts = dts, .key = true, .data = owned_part(body, tag.body)});
}

Result<void> SampleReader::set_audio_config(const flv::AudioTag& tag) {
    if ((audio_.format && tag.track_id != audio_.id) || tag.codec == flv::AudioCodec::mp3)
        return {};
    set(audio_, tag.codec, tag.track_id, TRY(format_of(tag.codec, tag.body)));
    return {};
}

template <class Codec>
void SampleReader::set(Track<Codec>& track, Codec codec, int id, std::optional<TrackFormat> format) {
    if (format != track.format)
        ++version_;
    track.codec = codec;
    track.id = id;
    track.format = std::move(format);
}

template <class Codec>
Error SampleReader::drop(Track<Codec>& track, Codec codec) {
    track.config.clear();
    set(track, Codec::none, 0, {});
    return {Errc::unsupported, "MP4 here cannot carry " + std::string(flv::name_of(codec))};
}

}  // namespace live::wire::mp4
