#include "wire/ts/write/ts_converter.hpp"

#include <array>
#include <limits>
#include <string>

#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::wire::ts {

namespace {

using codec::Codec;
using codec::Content;
using codec::Frame;

Error not_carried(Codec codec) {
    return {Errc::unsupported, "a transport stream here cannot carry " + std::string(name_of(codec))};
}

std::optional<StreamType> video_type_of(Codec codec) {
    switch (codec) {
        case Codec::avc: return StreamType::avc;
        case Codec::hevc: return StreamType::hevc;
        default: return std::nullopt;
    }
}

std::optional<StreamType> audio_type_of(Codec codec) {
    switch (codec) {
        case Codec::aac: return StreamType::aac;
        case Codec::mp3: return StreamType::mp3;
        case Codec::opus: return StreamType::opus;
        case Codec::ac3: return StreamType::ac3;
        default: return std::nullopt;
    }
}

// Whether each frame is self-describing, so that no configuration is needed.
bool says_itself(StreamType type) { return type == StreamType::mp3 || type == StreamType::ac3; }

// Larger than any packet (RFC 6716, 3.4: 120 ms in frames of up to 1,275 bytes), and leaves space for the control header.
constexpr std::size_t kOpusBytesMax = 65'000;

}  // namespace

bool TsConverter::carries(Codec codec) { return video_type_of(codec) || audio_type_of(codec); }

Result<void> TsConverter::push_video(const Frame& frame, std::vector<std::uint8_t>& out) {
    return begin_video(frame, std::numeric_limits<std::size_t>::max(), out);
}

Result<void> TsConverter::begin_video(const Frame& frame, std::size_t packets_max, std::vector<std::uint8_t>& out) {
    if (frame.content == Content::config)
        return set_video_config(frame);
    if (frame.content != Content::frame)
        return {};
    const auto type = video_type_of(frame.codec);
    if (!type) {
        set_video({});
        return not_carried(frame.codec);
    }
    if (tracks().video != type)
        return {};
    const PictureIs is = frame.key ? PictureIs::key : PictureIs::inter;
    auto collected = collect_access_unit(picture_, is, frame.data.bytes(), parts_);
    if (collected.ok() && !parts_.empty()) {
        write_due_tables(frame.dts, is, out);
        muxer_.begin_video({.dts = frame.dts, .pts = frame.dts + frame.cts, .key = frame.key}, parts_, packets_max, out);
        tables_ = Tables::stale;
    }
    parts_.clear();
    return collected;
}

Result<void> TsConverter::set_video_config(const Frame& frame) {
    const auto type = video_type_of(frame.codec);
    if (!type) {
        set_video({});
        return not_carried(frame.codec);
    }
    const Bytes record = frame.data.bytes();
    picture_ = TRY(type == StreamType::avc ? avc_video_format(record) : hevc_video_format(record));
    set_video(type);
    return {};
}

Result<void> TsConverter::push_audio(const Frame& frame, std::vector<std::uint8_t>& out) {
    if (frame.codec == Codec::none)
        return {};
    const auto type = audio_type_of(frame.codec);
    if (!type) {
        set_audio({});
        return not_carried(frame.codec);
    }
    if (frame.content == Content::config)
        return set_audio_config(frame);
    if (frame.content != Content::frame || frame.data.empty())
        return {};
    if (says_itself(*type) && tracks().audio != type)
        set_audio(type);
    if (tracks().audio != type)
        return {};
    const Bytes audio = frame.data.bytes();
    if (type == StreamType::aac)
        return write_aac(frame.dts, audio, out);
    return type == StreamType::opus ? write_opus(frame.dts, audio, out) : write_whole(frame.dts, audio, out);
}

Result<void> TsConverter::set_audio_config(const Frame& frame) {
    const auto type = audio_type_of(frame.codec);
    if (says_itself(*type))
        return {};
    return type == StreamType::aac ? set_aac(frame) : set_opus(frame);
}

Result<void> TsConverter::set_aac(const Frame& frame) {
    const auto config = TRY(codec::parse_aac_config(frame.data.bytes()));
    if (const auto header = codec::adts_header(config, 0); !header.ok()) {
        set_audio({});
        return Error(header.error());
    }
    aac_ = config;
    set_audio(StreamType::aac);
    return {};
}

Result<void> TsConverter::set_opus(const Frame& frame) {
    constexpr std::uint8_t kChannelsMax = 8;
    const auto head = TRY(codec::parse_opus_head(frame.data.bytes()));
    if (head.mapping_family > 1 || head.channels > kChannelsMax) {
        set_audio({});
        return Error(Errc::unsupported, "a transport stream here cannot carry Opus of such channels");
    }
    set_audio(StreamType::opus, head.channels);
    return {};
}

Result<void> TsConverter::write_aac(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out) {
    const auto header = TRY(codec::adts_header(aac_, frame.size()));
    write_audio(pts, std::array{Bytes(header), frame}, out);
    return {};
}

// opus_control_header(): prefix, no trimming, and the size in bytes that are all 255 except the last.
Result<void> TsConverter::write_opus(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out) {
    constexpr std::size_t kFull = 0xFF;
    if (frame.size() > kOpusBytesMax)
        return Error(Errc::limit, "Opus of " + std::to_string(frame.size()) + " bytes in one piece");
    std::vector<std::uint8_t> control = {0x7F, 0xE0};
    control.resize(control.size() + frame.size() / kFull, kFull);
    control.push_back(static_cast<std::uint8_t>(frame.size() % kFull));
    write_audio(pts, std::array{Bytes(control), frame}, out);
    return {};
}

Result<void> TsConverter::write_whole(MediaTime pts, Bytes frame, std::vector<std::uint8_t>& out) {
    if (frame.size() > kPesPayloadBytesMax)
        return Error(Errc::limit, "audio of " + std::to_string(frame.size()) + " bytes in one piece");
    write_audio(pts, std::array{frame}, out);
    return {};
}

void TsConverter::write_audio(MediaTime pts, std::span<const Bytes> parts, std::vector<std::uint8_t>& out) {
    write_due_tables(pts, PictureIs::inter, out);
    muxer_.write_audio(pts, parts, out);
    tables_ = Tables::stale;
}

void TsConverter::set_video(std::optional<StreamType> type) {
    if (type != tracks().video)
        tables_ = Tables::none;
    Tracks wanted = tracks();
    wanted.video = type;
    muxer_.set_tracks(wanted);
}

void TsConverter::set_audio(std::optional<StreamType> type, std::uint8_t opus_channels) {
    Tracks wanted = tracks();
    wanted.audio = type;
    wanted.opus_channels = opus_channels;
    if (wanted != tracks())
        tables_ = Tables::none;
    muxer_.set_tracks(wanted);
}

void TsConverter::set_data(bool id3, bool splices) {
    Tracks wanted = tracks();
    wanted.id3 = id3;
    wanted.splices = splices;
    if (wanted != tracks())
        tables_ = Tables::none;
    muxer_.set_tracks(wanted);
}

void TsConverter::announce_id3() { set_data(true, tracks().splices); }

void TsConverter::push_id3(MediaTime pts, Bytes tag, std::vector<std::uint8_t>& out) {
    if (!(tracks().video || tracks().audio) || tag.size() > kPesPayloadBytesMax)
        return;
    set_data(true, tracks().splices);
    write_due_tables(pts, PictureIs::inter, out);
    muxer_.write_id3(pts, tag, out);
}

void TsConverter::push_splice(MediaTime now, Bytes section, std::vector<std::uint8_t>& out) {
    if (!(tracks().video || tracks().audio))
        return;
    set_data(tracks().id3, true);
    write_due_tables(now, PictureIs::inter, out);
    muxer_.write_splice(section, out);
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
