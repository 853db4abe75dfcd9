#include "service/hls/container.hpp"

#include <utility>

#include "wire/flv/audio_tag.hpp"
#include "wire/flv/video_tag.hpp"
#include "wire/mp4/sample_reader.hpp"
#include "wire/ts/ts_converter.hpp"

namespace live::service::hls {

using media::Kind;
using wire::flv::AudioCodec;
using wire::flv::PacketKind;
using wire::flv::VideoCodec;
using wire::mp4::SampleReader;
using wire::ts::TsConverter;

namespace {

// Opus is defined for MPEG-TS, and neither browsers nor hls.js play it from there.
bool plays_in_ts(VideoCodec codec) { return TsConverter::carries(codec); }
bool plays_in_ts(AudioCodec codec) { return TsConverter::carries(codec) && codec != AudioCodec::opus; }

template <class Codec>
bool needs_fmp4(Codec codec) {
    return !plays_in_ts(codec) && SampleReader::carries(codec);
}

template <class Codec>
std::string name_unless_carried(Codec codec, Container container) {
    const bool is_carried = container == Container::ts ? TsConverter::carries(codec) : SampleReader::carries(codec);
    return codec == Codec::none || is_carried ? "" : std::string(wire::flv::name_of(codec));
}

bool is_media(PacketKind kind) { return kind == PacketKind::sequence_header || kind == PacketKind::frames; }

template <class Codec, class Tag>
bool note_codec(Codec& known, const Result<Tag>& tag) {
    if (!tag.ok() || !is_media(tag->kind) || tag->codec == Codec::none)
        return false;
    return std::exchange(known, tag->codec) != tag->codec;
}

}  // namespace

bool CodecWatch::note(const media::Packet& packet) {
    const Bytes body = packet.payload.bytes();
    if (packet.kind == Kind::video && (packet.config || video_ == VideoCodec::none))
        return note_codec(video_, wire::flv::parse_video_tag(body));
    if (packet.kind == Kind::audio && (packet.config || audio_ == AudioCodec::none))
        return note_codec(audio_, wire::flv::parse_audio_tag(body));
    return false;
}

Container CodecWatch::needs() const { return needs_fmp4(video_) || needs_fmp4(audio_) ? Container::fmp4 : Container::ts; }

std::string CodecWatch::left_out(Kind kind, Container container) const {
    return kind == Kind::video ? name_unless_carried(video_, container) : name_unless_carried(audio_, container);
}

}  // namespace live::service::hls
