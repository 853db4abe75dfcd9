#include "media/wire_log/rtsp_wire_encoder.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/ac3.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtp/packet.hpp"
#include "wire/rtp_payload/aac.hpp"
#include "wire/rtp_payload/ac3.hpp"
#include "wire/rtp_payload/av1.hpp"
#include "wire/rtp_payload/jpeg.hpp"
#include "wire/rtp_payload/mpeg_audio.hpp"
#include "wire/rtp_payload/nal.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace live::media {

namespace codec = wire::codec;
namespace rtp_payload = wire::rtp_payload;

namespace {

constexpr std::uint8_t kMark = '$';
constexpr std::size_t kFrameHeadBytes = 4;
constexpr std::string_view kName = "millrace";
constexpr std::size_t kNalLengthBytes = 4;

std::uint32_t ticks_of(MediaTime time, std::uint32_t clock_rate) {
    constexpr std::int64_t kMicroseconds = 1'000'000;
    // In two parts: microseconds times the clock rate would overflow within months.
    const std::int64_t seconds = time.count() / kMicroseconds;
    const std::int64_t rest = time.count() % kMicroseconds;
    return static_cast<std::uint32_t>(seconds * clock_rate + rest * clock_rate / kMicroseconds);
}

// RFC 3550, 4: the time of day, and without it, the time since the sender began.
std::uint64_t ntp_of(MediaTime time) {
    constexpr std::uint64_t kMicroseconds = 1'000'000;
    constexpr std::uint64_t kEpoch = 2'208'988'800;  // the seconds from 1900 to 1970
    const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    return (kEpoch + count / kMicroseconds) << 32 | ((count % kMicroseconds) << 32) / kMicroseconds;
}

// Samples of a frame, in the clock of the track; 0 if unknown.
std::uint32_t samples_of(const Packet& packet, const RtspTrack& track, Bytes config) {
    constexpr std::uint32_t kAacSamples = 1'024;
    switch (packet.codec) {
        case Codec::aac: {
            const auto aac = codec::parse_aac_config(config);
            return aac.ok() && aac->sample_rate > 0
                       ? static_cast<std::uint32_t>(std::uint64_t{kAacSamples} * track.clock_rate / aac->sample_rate)
                       : 0;
        }
        case Codec::opus: return codec::opus_samples(packet.frame()).ok() ? *codec::opus_samples(packet.frame()) : 0;
        case Codec::g711a:
        case Codec::g711u: return static_cast<std::uint32_t>(packet.frame_bytes());
        case Codec::ac3: {
            const auto ac3 = codec::parse_ac3_header(packet.frame());
            return ac3.ok() && ac3->sample_rate > 0
                       ? static_cast<std::uint32_t>(std::uint64_t{ac3->samples} * track.clock_rate / ac3->sample_rate)
                       : 0;
        }
        default: return 0;
    }
}

bool is_parameter_set(Codec codec, std::uint8_t first) {
    const unsigned type = codec == Codec::avc ? first & 0x1FU : first >> 1 & 0x3FU;
    return codec == Codec::avc ? type == 7 || type == 8 : type >= codec::HevcConfig::kVps && type <= codec::HevcConfig::kPps;
}

void append_unit(std::vector<std::uint8_t>& out, Bytes unit) {
    for (std::size_t i = kNalLengthBytes; i-- > 0;)
        out.push_back(static_cast<std::uint8_t>(unit.size() >> 8 * i));
    out.insert(out.end(), unit.begin(), unit.end());
}

Result<Bytes> take_unit(ByteReader& in, std::uint8_t length_size) {
    const Bytes length = TRY(in.take(length_size));
    std::size_t bytes = 0;
    for (const std::uint8_t byte : length)
        bytes = bytes << 8 | byte;
    return in.take(bytes);
}

}  // namespace

RtspWireEncoder::RtspWireEncoder(const EncoderSetup& setup) : list_(setup.list), unix_at_zero_(setup.unix_at_zero) {
    const auto set = [this](const Packet& config) {
        if (const auto place = config.is_config() ? list_.place_of(config) : std::nullopt)
            set_config(*place, config);
    };
    set(setup.audio_config);
    set(setup.video_config);
    for (const Packet& config : setup.extra_configs)
        set(config);
}

void RtspWireEncoder::set_config(std::size_t place, const Packet& packet) {
    const Bytes record = packet.frame();
    Track& track = tracks_[place];
    track.config.assign(record.begin(), record.end());
    track_for(place, packet);  // known to reports before its first packet
    if (packet.kind != MediaKind::video)
        return;
    track.parameter_sets.clear();
    if (packet.codec == Codec::avc) {
        const auto config = codec::parse_avc_config(record);
        if (!config.ok())
            return;
        track.nal_length_size = config->nal_length_size;
        for (const auto* units : {&config->sps, &config->pps})
            for (const Bytes unit : *units)
                append_unit(track.parameter_sets, unit);
    } else if (packet.codec == Codec::hevc) {
        const auto config = codec::parse_hevc_config(record);
        if (!config.ok())
            return;
        track.nal_length_size = config->nal_length_size;
        for (const codec::HevcArray& array : config->arrays)
            for (const Bytes unit : array.units)
                if (!unit.empty() && is_parameter_set(Codec::hevc, unit[0]))
                    append_unit(track.parameter_sets, unit);
    }
}

// nullptr without a usable configuration.
RtspWireEncoder::Track* RtspWireEncoder::track_for(std::size_t place, const Packet& packet) {
    Track& track = tracks_[place];
    if (!track.format || track.format->codec != packet.codec)
        if (const auto format = rtsp_track_at(list_, place, packet.codec, track.config))
            track.format = format;
    return track.format && track.format->codec == packet.codec ? &track : nullptr;
}

WireEncoder::Encoded RtspWireEncoder::encode(const Packet& packet, SlabLog& log) {
    const auto place = list_.place_of(packet);
    if (!place)
        return {};
    if (packet.is_config()) {
        set_config(*place, packet);
        return {};
    }
    Track* const track = packet.content == Content::frame && packet.frame_bytes() > 0 ? track_for(*place, packet) : nullptr;
    if (track == nullptr)
        return {};
    payloads_.clear();
    if (!packetize(packet, *track).ok() || payloads_.empty())
        return {};
    const std::uint32_t timestamp = timestamp_of(packet, *track);
    const bool is_key = packet.key && packet.kind == MediaKind::video && !packet.extra;
    const bool is_due = is_key || !track->has_sent || !reported_at_ || packet.dts - *reported_at_ >= kReportInterval;
    track->has_sent = true;
    if (is_due)
        append_reports(packet.dts, log);
    append_packets(*place, packet, timestamp, log);
    track->sequence = static_cast<std::uint16_t>(track->sequence + payloads_.size());
    track->packets += static_cast<std::uint32_t>(payloads_.size());
    track->payload_bytes += static_cast<std::uint32_t>(payloads_.bytes().size());
    constexpr std::size_t kKeptBytes = 64U << 10;
    if (payloads_.bytes().size() > kKeptBytes)
        payloads_ = {};
    if (frame_.capacity() > kKeptBytes)
        frame_ = {};
    return {};
}

// Stamps of audio are whole milliseconds where it came by RTMP: while they agree with the samples, the samples count.
std::uint32_t RtspWireEncoder::timestamp_of(const Packet& packet, Track& track) {
    constexpr std::int32_t kApartPart = 50;  // of a second
    const std::uint32_t stamped = ticks_of(packet.dts + packet.cts, track.format->clock_rate);
    if (packet.kind != MediaKind::audio)
        return stamped;
    const auto apart = static_cast<std::int32_t>(stamped - track.next_timestamp);
    const auto most = static_cast<std::int32_t>(track.format->clock_rate) / kApartPart;
    const std::uint32_t samples = samples_of(packet, *track.format, track.config);
    const bool agrees = track.has_sent && samples > 0 && apart <= most && apart >= -most;
    const std::uint32_t timestamp = agrees ? track.next_timestamp : stamped;
    track.next_timestamp = timestamp + samples;
    return timestamp;
}

Result<void> RtspWireEncoder::packetize(const Packet& packet, Track& track) {
    switch (packet.codec) {
        case Codec::avc:
        case Codec::hevc: return packetize_nal(packet, track);
        case Codec::av1: return rtp_payload::packetize_av1(packet.frame(), kPayloadBytesMax, payloads_);
        case Codec::vp8:
            rtp_payload::packetize_vp8(packet.frame(), track.picture_id++ & 0x7FFF, kPayloadBytesMax, payloads_);
            break;
        case Codec::vp9:
            rtp_payload::packetize_vp9(packet.frame(), packet.key ? rtp_payload::FrameKind::key : rtp_payload::FrameKind::inter,
                                       track.picture_id++ & 0x7FFF, kPayloadBytesMax, payloads_);
            break;
        case Codec::aac: return rtp_payload::packetize_aac(packet.frame(), kPayloadBytesMax, payloads_);
        case Codec::ac3: return rtp_payload::packetize_ac3(packet.frame(), kPayloadBytesMax, payloads_);
        case Codec::mjpeg: return rtp_payload::packetize_jpeg(packet.frame(), kPayloadBytesMax, payloads_);
        case Codec::mp3: return rtp_payload::packetize_mpeg_audio(packet.frame(), kPayloadBytesMax, payloads_);
        default:
            payloads_.append(packet.frame());
            payloads_.end_payload();
            break;
    }
    return {};
}

Result<void> RtspWireEncoder::packetize_nal(const Packet& packet, const Track& track) {
    frame_.clear();
    if (packet.key)
        frame_ = track.parameter_sets;
    const std::size_t sets = frame_.size();
    ByteReader in(packet.frame());
    bool has_own_sets = false;
    while (!in.at_end()) {
        const Bytes unit = TRY(take_unit(in, track.nal_length_size));
        if (unit.empty())
            continue;
        has_own_sets = has_own_sets || is_parameter_set(packet.codec, unit[0]);
        append_unit(frame_, unit);
    }
    const Bytes units = Bytes(frame_).subspan(has_own_sets ? sets : 0);
    const auto codec = packet.codec == Codec::avc ? rtp_payload::NalCodec::avc : rtp_payload::NalCodec::hevc;
    return rtp_payload::packetize_nal(codec, units, kPayloadBytesMax, payloads_);
}

void RtspWireEncoder::append_packets(std::size_t place, const Packet& packet, std::uint32_t timestamp, SlabLog& log) {
    const Track& track = tracks_[place];
    wire::rtp::Packet header;
    header.payload_type = track.format->payload_type;
    header.timestamp = timestamp;
    header.sequence = track.sequence;
    header.ssrc = kSsrcBase + static_cast<std::uint32_t>(place);
    // The marker ends an image, an access unit of AAC and a frame of AC-3; that of data is the publisher's.
    const bool marks_end = packet.kind == MediaKind::video || packet.codec == Codec::aac || packet.codec == Codec::ac3 ||
                           (packet.codec == Codec::rtp_data && packet.key);
    ByteWriter out;
    out.reserve(payloads_.bytes().size() + payloads_.size() * (kFrameHeadBytes + wire::rtp::kHeaderBytes));
    for (std::size_t i = 0; i < payloads_.size(); ++i, ++header.sequence) {
        const Bytes payload = payloads_[i];
        // A frame of G.711 or Opus is one packet, whatever its length.
        if (payload.size() > 0xFFFF - wire::rtp::kHeaderBytes)
            continue;
        header.marker = i + 1 == payloads_.size() && marks_end;
        out.u8(kMark).u8(rtsp_channel_of(place)).u16be(static_cast<std::uint16_t>(wire::rtp::kHeaderBytes + payload.size()));
        wire::rtp::write_header(out, header);
        out.bytes(payload);
    }
    log.append(out.written());
}

// Reports all tracks together, so that a player that begins here can put them in step.
void RtspWireEncoder::append_reports(MediaTime time, SlabLog& log) {
    reported_at_ = time;
    for (std::size_t place = 0; place < list_.size(); ++place) {
        const Track& track = tracks_[place];
        if (!track.format)
            continue;
        ByteWriter report;
        const std::uint32_t ssrc = kSsrcBase + static_cast<std::uint32_t>(place);
        wire::rtcp::write(report, wire::rtcp::SenderReport{.ssrc = ssrc,
                                                           .ntp = ntp_of(unix_at_zero_ + time),
                                                           .rtp_time = ticks_of(time, track.format->clock_rate),
                                                           .packets = track.packets,
                                                           .payload_bytes = track.payload_bytes,
                                                           .blocks = {}});
        wire::rtcp::write(report, wire::rtcp::SourceName{ssrc, kName});
        ByteWriter head;
        head.u8(kMark).u8(static_cast<std::uint8_t>(rtsp_channel_of(place) + 1));
        head.u16be(static_cast<std::uint16_t>(report.size()));
        log.append(head.written());
        log.append(report.written());
    }
}

std::unique_ptr<WireEncoder> make_rtsp_encoder(const EncoderSetup& setup) { return std::make_unique<RtspWireEncoder>(setup); }

}  // namespace live::media
