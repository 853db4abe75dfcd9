#include "media/ingest/rtp_track_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::media {

namespace {

struct VideoName {
    Codec codec;
    std::string_view name;
};
constexpr std::array kVideoNames = {VideoName{Codec::avc, "H264"}, VideoName{Codec::hevc, "H265"},
                                    VideoName{Codec::vp8, "VP8"},  VideoName{Codec::vp9, "VP9"},
                                    VideoName{Codec::av1, "AV1"},  VideoName{Codec::mjpeg, "JPEG"}};

constexpr std::array kAudioCodecs = {Codec::aac, Codec::opus, Codec::g711a, Codec::g711u, Codec::ac3, Codec::mp3};

std::string_view video_name_of(Codec codec) {
    const auto* const found = std::ranges::find(kVideoNames, codec, &VideoName::codec);
    return found == kVideoNames.end() ? std::string_view() : found->name;
}

// With SBR an access unit has twice the samples, in the clock of the output.
std::uint32_t ticks_of_unit(const RtpTrackReader::Format& format) {
    constexpr std::uint32_t kSamples = 1'024;
    const auto config = wire::codec::parse_aac_config(format.config);
    if (!config.ok() || config->sample_rate == 0)
        return kSamples;
    return static_cast<std::uint32_t>(std::uint64_t{kSamples} * format.clock_rate / config->sample_rate);
}

}  // namespace

using wire::rtp_payload::Fragment;

Result<void> RtpTrackReader::check(const Format& format) {
    const bool is_known = format.kind == MediaKind::video   ? !video_name_of(format.codec).empty()
                          : format.kind == MediaKind::audio ? std::ranges::find(kAudioCodecs, format.codec) != kAudioCodecs.end()
                                                            : format.codec == Codec::rtp_data;
    if (!is_known)
        return Error(Errc::unsupported, "the codec of this track is not supported");
    if (format.kind == MediaKind::audio)
        TRY(make_audio(format));
    return {};
}

Result<RtpTrackReader::Audio> RtpTrackReader::make_audio(const Format& format) {
    switch (format.codec) {
        case Codec::aac:
            if (format.is_latm)
                return Audio(TRY(wire::rtp_payload::LatmDepacketizer::make(format.config, format.clock_rate)));
            TRY(wire::codec::parse_aac_config(format.config));
            return Audio(wire::rtp_payload::AacDepacketizer(format.aac, ticks_of_unit(format)));
        case Codec::ac3: return Audio(wire::rtp_payload::Ac3Depacketizer(format.clock_rate));
        case Codec::mp3: return Audio(wire::rtp_payload::MpegAudioDepacketizer(format.clock_rate));
        default: return Audio();
    }
}

RtpTrackReader::RtpTrackReader(const Format& format, const Log& log) : format_(format), video_(log) {
    if (format.kind == MediaKind::video) {
        video_.set_track({format.kind, std::string(video_name_of(format.codec)), format.clock_rate, 0, {}});
        video_.add_parameter_sets(format.parameter_sets);
    } else if (auto audio = make_audio(format); audio.ok()) {
        audio_ = *std::move(audio);
    }
}

void RtpTrackReader::push(const Fragment& packet, MediaTime time) {
    if (format_.kind == MediaKind::video)
        video_.push(packet, time);
    else
        push_audio(packet, time);
}

// Before the first frame, and in LATM whenever the stream has another one.
void RtpTrackReader::emit_config(MediaTime time) {
    std::vector<std::uint8_t> config;
    if (const auto* latm = std::get_if<wire::rtp_payload::LatmDepacketizer>(&audio_)) {
        config = latm->config();
    } else if (format_.codec == Codec::aac || format_.codec == Codec::rtp_data) {
        config = format_.config;
    } else if (format_.codec == Codec::opus) {
        ByteWriter head;
        write_opus_head(head, wire::codec::OpusHead{.channels = std::min<std::uint8_t>(format_.channels, 2), .mapping = {}});
        config.assign(head.written().begin(), head.written().end());
    }
    if (config == config_)
        return;
    config_ = std::move(config);
    emit(Content::config, config_, time);
}

void RtpTrackReader::push_audio(const Fragment& packet, MediaTime time) {
    if (packet.payload.empty())
        return;
    if (std::holds_alternative<Whole>(audio_)) {
        emit_config(time);
        return emit(Content::frame, packet.payload, time, format_.codec == Codec::rtp_data && packet.marker);
    }
    std::visit(
        [&](auto& depacketizer) {
            if constexpr (!std::is_same_v<std::remove_reference_t<decltype(depacketizer)>, Whole>) {
                // A malformed packet is lost.
                static_cast<void>(depacketizer.push(packet).ok());
                while (const auto unit = depacketizer.poll()) {
                    constexpr std::int64_t kMicroseconds = 1'000'000;
                    const auto ticks = static_cast<std::int32_t>(unit->timestamp - packet.timestamp);
                    emit_config(time);
                    emit(Content::frame, unit->data, time + MediaTime(ticks * kMicroseconds / format_.clock_rate));
                }
            }
        },
        audio_);
}

void RtpTrackReader::emit(Content content, Bytes data, MediaTime time, bool key) {
    auto [memory, shares_memory] = blocks_.copy_of(data);
    frames_.push_back({.codec = format_.codec,
                       .content = content,
                       .key = key,
                       .dts = time,
                       .data = std::move(memory),
                       .shares_memory = shares_memory});
}

std::optional<wire::codec::Frame> RtpTrackReader::poll() {
    if (format_.kind == MediaKind::video)
        return video_.poll();
    if (frames_.empty())
        return std::nullopt;
    wire::codec::Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

}  // namespace live::media
