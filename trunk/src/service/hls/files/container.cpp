#include "service/hls/files/container.hpp"

#include <utility>

#include "wire/mp4/sample_reader.hpp"
#include "wire/ts/write/ts_converter.hpp"

namespace live::service::hls {

using media::Codec;
using wire::mp4::SampleReader;
using wire::ts::TsConverter;

namespace {

// Opus is defined for MPEG-TS, but neither browsers nor hls.js play it from MPEG-TS.
bool plays_in_ts(Codec codec) { return TsConverter::carries(codec) && codec != Codec::opus; }

bool needs_fmp4(Codec codec) { return !plays_in_ts(codec) && SampleReader::carries(codec); }

}  // namespace

bool CodecWatch::note(const media::Packet& packet) {
    if (packet.kind == MediaKind::data || packet.codec == Codec::none || packet.content == media::Content::other)
        return false;
    Codec& known = packet.kind == MediaKind::video ? video_ : audio_;
    if (!packet.is_config() && known != Codec::none)
        return false;
    return std::exchange(known, packet.codec) != packet.codec;
}

Container CodecWatch::needs() const { return needs_fmp4(video_) || needs_fmp4(audio_) ? Container::fmp4 : Container::ts; }

std::string CodecWatch::left_out(MediaKind kind, Container container) const {
    const Codec codec = kind == MediaKind::video ? video_ : audio_;
    const bool is_carried = container == Container::ts ? TsConverter::carries(codec) : SampleReader::carries(codec);
    return codec == Codec::none || is_carried ? "" : std::string(name_of(codec));
}

}  // namespace live::service::hls
