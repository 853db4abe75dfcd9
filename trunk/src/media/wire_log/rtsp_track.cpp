#include "media/wire_log/rtsp_track.hpp"

#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/rtsp/description.hpp"

namespace live::media {

namespace {

constexpr std::uint8_t kVideoType = 96;
constexpr std::uint8_t kAudioType = 97;
// RFC 3551, 6
constexpr std::uint8_t kPcmuType = 0;
constexpr std::uint8_t kPcmaType = 8;
constexpr std::uint8_t kMpaType = 14;
constexpr std::uint8_t kJpegType = 26;
constexpr std::uint8_t kDynamicTypes = 96;
constexpr std::uint8_t kFurtherTypes = 98;  // and the place
constexpr std::uint32_t kVideoClockRate = 90'000;
constexpr std::uint32_t kOpusClockRate = 48'000;
constexpr std::uint32_t kG711ClockRate = 8'000;
// The rate of nearly all streams; a source does not have that of its own. Stamps agree with it in any case.
constexpr std::uint32_t kAc3ClockRate = 48'000;

bool has_usable_config(Codec codec, Bytes config) {
    switch (codec) {
        case Codec::avc: return wire::codec::parse_avc_config(config).ok();
        case Codec::hevc: return wire::codec::parse_hevc_config(config).ok();
        default: return codec == Codec::av1 || codec == Codec::vp8 || codec == Codec::vp9;
    }
}

}  // namespace

std::optional<RtspTrack> rtsp_track_of(MediaKind kind, Codec codec, Bytes config) {
    if (codec == Codec::mjpeg && kind == MediaKind::video)
        return RtspTrack{kind, codec, kJpegType, kVideoClockRate, 1};
    if (codec == Codec::rtp_data && kind == MediaKind::data) {
        const auto rate = wire::rtsp::data_clock_rate_of(config);
        return rate ? std::optional(RtspTrack{kind, codec, kFurtherTypes, *rate, 1}) : std::nullopt;
    }
    if (kind == MediaKind::video)
        return has_usable_config(codec, config) ? std::optional(RtspTrack{kind, codec, kVideoType, kVideoClockRate, 1})
                                                : std::nullopt;
    if (kind != MediaKind::audio)
        return std::nullopt;
    switch (codec) {
        case Codec::aac: {
            const auto aac = wire::codec::parse_aac_config(config);
            return aac.ok() ? std::optional(RtspTrack{kind, codec, kAudioType, aac->output_rate, aac->channels}) : std::nullopt;
        }
        case Codec::opus: {
            const auto head = wire::codec::parse_opus_head(config);
            return RtspTrack{kind, codec, kAudioType, kOpusClockRate, head.ok() ? head->channels : std::uint8_t{2}};
        }
        case Codec::g711a: return RtspTrack{kind, codec, kPcmaType, kG711ClockRate, 1};
        case Codec::g711u: return RtspTrack{kind, codec, kPcmuType, kG711ClockRate, 1};
        case Codec::mp3: return RtspTrack{kind, codec, kMpaType, kVideoClockRate, 1};
        case Codec::ac3: return RtspTrack{kind, codec, kAudioType, kAc3ClockRate, 1};
        default: return std::nullopt;
    }
}

std::optional<RtspTrack> rtsp_track_at(const TrackList& list, std::size_t place, Codec codec, Bytes config) {
    auto track = rtsp_track_of(list[place].kind, codec, config);
    if (track && !list[place].is_default && track->payload_type >= kDynamicTypes)
        track->payload_type = static_cast<std::uint8_t>(kFurtherTypes + place);
    return track;
}

}  // namespace live::media
