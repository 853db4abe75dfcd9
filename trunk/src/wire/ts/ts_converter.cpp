#include "wire/ts/ts_converter.hpp"

#include <array>
#include <string>

#include "wire/codec/adts.hpp"
#include "wire/codec/opus.hpp"

namespace live::wire::ts {

namespace {

MediaTime with_offset(MediaTime time, std::chrono::nanoseconds offset) { return time + std::chrono::floor<MediaTime>(offset); }

template <class Codec>
Error not_carried(Codec codec) {
    return {Errc::unsupported, "a transport stream here cannot carry " + std::string(flv::name_of(codec))};
}

std::optional<StreamType> type_of(flv::AudioCodec codec) {
    switch (codec) {
        case flv::AudioCodec::aac: return StreamType::aac;
        case flv::AudioCodec::mp3: return StreamType::mp3;
        case flv::AudioCodec::opus: return StreamType::opus;
        case flv::AudioCodec::ac3: return StreamType::ac3;
        default: return std::nullopt;
    }
}

// Each frame says what it is, so that there is no configuration to wait for.
bool says_itself(StreamType type) { return type == StreamType::mp3 || type == StreamType::ac3; }

// Beyond any packet (RFC 6716, 3.4: 120 ms in frames of up to 1,275 bytes), and its control header fits as well.
constexpr std::size_t kOpusBytesMax = 65'000;

}  // namespace

bool TsConverter::carries(flv::VideoCodec codec) { return codec == flv::VideoCodec::avc || codec == flv::VideoCodec::hevc; }

bool TsConverter::carries(flv::AudioCodec codec) { return type_of(codec).has_value(); }

Result<void> TsConverter::push_video(MediaTime dts, Bytes body, std::vector<std::uint8_t>& out) {
    const auto tag = TRY(flv::parse_video_tag(body));
    if (tag.kind == flv::PacketKind::sequence_header)
        return set_video_config(tag);
    if (tag.kind != flv::PacketKind::frames)
        return {};
    if (!carries(tag.codec)) {
        set_video({});
        return not_carried(tag.codec);
    }
    const bool is_avc = tag.codec == flv::VideoCodec::avc;
    if (tracks().video != (is_avc ? StreamType::avc : StreamType::hevc) || tag.track_id != video_track_)
        return {};
    const PictureIs is = tag.key ? PictureIs::key : PictureIs::inter;
    auto collected = collect_access_unit(picture_, is, tag.body, parts_);
    if (collected.ok() && !parts_.empty()) {
        dts = with_offset(dts, tag.timestamp_offset);
        write_due_tables(dts, is, out);
        muxer_.write_video({.dts = dts, .pts = dts + tag.composition, .key = tag.key}, parts_, out);
        tables_ = Tables::stale;
    }
    parts_.clear();
    return collected;
}

Result<void> TsConverter::set_video_config(const flv::VideoTag& tag) {
    if (!carries(tag.codec)) {
        set_video({});
        return not_carried(tag.codec);
    }
    const bool is_avc = tag.codec == flv::VideoCodec::avc;
    if (tracks().video && tag.track_id != video_track_)
        return {};
    picture_ = TRY(is_avc ? avc_picture_format(tag.body) : hevc_picture_format(tag.body));
    video_track_ = tag.track_id;
    set_video(is_avc ? StreamType::avc : StreamType::hevc);
    return {};
}

Result<void> TsConverter::push_audio(MediaTime dts, Bytes body, std::vector<std::uint8_t>& out) {
    const auto tag = TRY(flv::parse_audio_tag(body));
    if (tag.codec == flv::AudioCodec::none)
        return {};
    const auto type = type_of(tag.codec);
    if (!type) {
        set_audio({});
        return not_carried(tag.codec);
    }
    if (tag.kind == flv::PacketKind::sequence_header)
        return set_audio_config(tag);
    if (tag.kind != flv::PacketKind::frames || tag.body.empty())
        return {};
    const MediaTime pts = with_offset(dts, tag.timestamp_offset);
    if (says_itself(*type) && tracks().audio != type) {
        audio_track_ = tag.track_id;
        set_audio(type);
    }
    if (tracks().audio != type || tag.track_id != audio_track_)
        return {};
    if (type == StreamType::aac)
        return write_aac(pts, tag.body, out);
    return type == StreamType::opus ? write_opus(pts, tag.body, out) : write_whole(pts, tag.body, out);
}

Result<void> TsConverter::set_audio_config(const flv::AudioTag& tag) {
    const auto type = type_of(tag.codec);
    if (says_itself(*type) || (tracks().audio == type && tag.track_id != audio_track_))
        return {};
    return type == StreamType::aac ? set_aac(tag) : set_opus(tag);
}

Result<void> TsConverter::set_aac(const flv::AudioTag& tag) {
    const auto config = TRY(codec::parse_aac_config(tag.body));
    if (const auto header = codec::adts_header(config, 0); !header.ok()) {
        set_audio({});
        return Error(header.error());
    }
    aac_ = config;
    audio_track_ = tag.track_id;
    set_audio(StreamType::aac);
    return {};
}

Result<void> TsConverter::set_opus(const flv::AudioTag& tag) {
    constexpr std::uint8_t kChannelsMax = 8;
    const auto head = TRY(codec::parse_opus_head(tag.body));
    if (head.mapping_family > 1 || head.channels > kChannelsMax) {
        set_audio({});
        return Error(Errc::unsupported, "a transport stream here cannot carry Opus of such channels");
    }
    audio_track_ = tag.track_id;
    set_audio(StreamType::opus, head.channels);
    return {};
}

Result<void> TsConverter::write_aac(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out) {
    const auto header = TRY(codec::adts_header(aac_, frame.size()));
    write_sound(pts, std::array{Bytes(header), frame}, out);
    return {};
}

// opus_control_header(): a mark, no trimming, and the size in bytes of which all but the last are 255.
Result<void> TsConverter::write_opus(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out) {
    constexpr std::size_t kFull = 0xFF;
    if (frame.size() > kOpusBytesMax)
        return Error(Errc::limit, "Opus of " + std::to_string(frame.size()) + " bytes in one piece");
    std::vector<std::uint8_t> control = {0x7F, 0xE0};
    control.resize(control.size() + frame.size() / kFull, kFull);
    control.push_back(static_cast<std::uint8_t>(frame.size() % kFull));
    write_sound(pts, std::array{Bytes(control), frame}, out);
    return {};
}

Result<void> TsConverter::write_whole(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out) {
    if (frame.size() > kPesPayloadBytesMax)
        return Error(Errc::limit, "sound of " + std::to_string(frame.size()) + " bytes in one piece");
    write_sound(pts, std::array{frame}, out);
    return {};
}

void TsConverter::write_sound(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out) {
    write_due_tables(pts, PictureIs::inter, out);
    muxer_.write_audio(pts, parts, out);
    tables_ = Tables::stale;
}

void TsConverter::set_video(std::optional<StreamType> type) {
    if (type != tracks().video)
        tables_ = Tables::none;
    muxer_.set_tracks({.video = type, .audio = tracks().audio, .opus_channels = tracks().opus_channels});
}

void TsConverter::set_audio(std::optional<StreamType> type, std::uint8_t opus_channels) {
    const Tracks wanted = {.video = tracks().video, .audio = type, .opus_channels = opus_channels};
    if (wanted != tracks())
        tables_ = Tables::none;
    muxer_.set_tracks(wanted);
}

void TsConverter::write_due_tables(MediaTime time, PictureIs is, std::vector<std::uint8_t>& out) {
    const bool due =
        tables_ == Tables::none || (tables_ == Tables::stale && (is == PictureIs::key || time - tables_at_ >= kTablesInterval));
    if (due)
        write_tables(out);
    if (tables_ == Tables::fresh)
        tables_at_ = time;
}

void TsConverter::write_tables(std::vector<std::uint8_t>& out) {
    muxer_.write_tables(out);
    tables_ = Tables::fresh;
}

void TsConverter::repeat_tables(std::vector<std::uint8_t>& out) const {
    if (tables_ != Tables::none)
        muxer_.repeat_tables(out);
}

}  // namespace live::wire::ts
