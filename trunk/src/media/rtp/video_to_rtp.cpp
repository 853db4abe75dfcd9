#include "media/rtp/video_to_rtp.hpp"

#include <optional>
#include <string>

#include "base/bytes/byte_reader.hpp"
#include "base/log/log_format.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/codec/video/sei.hpp"
#include "wire/rtp_payload/av1.hpp"
#include "wire/rtp_payload/vpx.hpp"

namespace live::media {

namespace rtp_payload = wire::rtp_payload;

namespace {

bool has_nal_units(Codec codec) { return codec == Codec::avc || codec == Codec::hevc; }

// The role of a NAL unit in this converter (H.264, table 7-1; H.265, table 7-1).
struct Unit {
    enum class Is : std::uint8_t { slice, parameter_set, message, other } is = Is::other;
    bool is_reference = false;  // of a slice: other frames may be predicted from it
};

Unit avc_unit(std::uint8_t head) {
    switch (head & 0x1F) {
        case 1:
        case 2:
        case 3:
        case 4:
        case 5: return {Unit::Is::slice, (head & 0x60) != 0};
        case 6: return {Unit::Is::message};
        case 7:
        case 8:
        case 13: return {Unit::Is::parameter_set};
        default: return {};
    }
}

Unit hevc_unit(std::uint8_t head) {
    const unsigned type = head >> 1 & 0x3FU;
    // The even types from 0 to 15 are not referenced by frames of their own sub-layer; types from 16 on are key frames.
    if (type < 32)
        return {Unit::Is::slice, type >= 16 || type % 2 == 1};
    if (type <= 34)
        return {Unit::Is::parameter_set};
    return {type == 39 || type == 40 ? Unit::Is::message : Unit::Is::other};
}

void put_unit(std::vector<std::uint8_t>& out, Bytes unit) {
    const auto size = static_cast<std::uint32_t>(unit.size());
    for (const int shift : {24, 16, 8, 0})
        out.push_back(static_cast<std::uint8_t>(size >> shift));
    out.insert(out.end(), unit.begin(), unit.end());
}

bool is_avc_sps(Bytes unit) {
    constexpr unsigned kSps = 7;
    return !unit.empty() && (unit[0] & 0x1FU) == kSps;
}

}  // namespace

VideoToRtp::VideoToRtp(RtpLog& rtp_log, const BridgeOptions& options, const Log& log)
    : rtp_log_(rtp_log), options_(options), log_(log) {}

Result<void> VideoToRtp::push(const Packet& packet) {
    if (packet.payload.size() > kFrameBytesMax)
        return Error(Errc::limit,
                     fmt::format("it has {} bytes, and browsers show none of over {}", packet.payload.size(), kFrameBytesMax));
    if (packet.is_config())
        return set_config(packet);
    if (packet.content != Content::frame || packet.frame_bytes() == 0)
        return {};
    // VP8 needs no configuration, and encoders omit it.
    if (packet.codec == Codec::vp8 && codec_ != Codec::vp8)
        set_track(Codec::vp8, "");
    if (packet.codec != codec_)
        return {};
    const MediaTime shown = packet.dts + packet.cts;
    const bool is_wanted = has_nal_units(codec_) ? TRY(collect_nal_units(packet, shown)) : true;
    if (!is_wanted)
        return {};
    payloads_.clear();
    TRY(packetize(packet));
    if (payloads_.empty())
        return {};
    ++counters_.frames;
    const MediaTime time = order_.place(shown);
    const Slice all = Slice::copy_of(payloads_.bytes());
    std::size_t at = 0;
    for (std::size_t i = 0; i < payloads_.size(); ++i) {
        const std::size_t size = payloads_[i].size();
        rtp_log_.append({.kind = MediaKind::video,
                         .timestamp = rtp_timestamp(time, kClockRate),
                         .marker = i + 1 == payloads_.size(),
                         .begins_key = packet.key && i == 0,
                         .payload = all.sub(at, size),
                         .arrived = packet.arrived,
                         .time = time});
        at += size;
    }
    return {};
}

Result<void> VideoToRtp::set_config(const Packet& packet) {
    switch (packet.codec) {
        case Codec::avc: return take_avc_config(packet.frame());
        case Codec::hevc: return take_hevc_config(packet.frame());
        case Codec::av1: {
            const auto config = TRY(wire::codec::parse_av1_config(packet.frame()));
            parameter_sets_.assign(config.obus.begin(), config.obus.end());
            set_track(packet.codec, "");
            return {};
        }
        case Codec::vp9: set_track(packet.codec, "profile-id=0"); return {};
        case Codec::vp8: set_track(packet.codec, ""); return {};
        default: break;
    }
    if (refused_ != packet.codec)
        LOG_WARN(log_, "WebRTC players get no video: {} cannot be sent as RTP here", name_of(packet.codec));
    refused_ = packet.codec;
    codec_ = Codec::none;
    return {};
}

Result<void> VideoToRtp::take_avc_config(Bytes record) {
    const auto config = TRY(wire::codec::parse_avc_config(record));
    set_track(Codec::avc, wire::codec::avc_rtp_format(config));
    parameter_sets_.clear();
    for (const auto* units : {&config.sps, &config.pps})
        for (const Bytes unit : *units)
            put_parameter_set(parameter_sets_, unit);
    nal_length_size_ = config.nal_length_size;
    return {};
}

Result<void> VideoToRtp::take_hevc_config(Bytes record) {
    const auto config = TRY(wire::codec::parse_hevc_config(record));
    set_track(Codec::hevc, "");
    parameter_sets_.clear();
    for (const auto type : {config.kVps, config.kSps, config.kPps})
        for (const wire::codec::HevcArray& array : config.arrays)
            if (array.type == type)
                for (const Bytes unit : array.units)
                    put_parameter_set(parameter_sets_, unit);
    nal_length_size_ = config.nal_length_size;
    return {};
}

void VideoToRtp::put_parameter_set(std::vector<std::uint8_t>& out, Bytes unit) const {
    if (unit.empty())
        return;
    // A parameter set that cannot be fully parsed is sent unchanged: decoders may be able to read it.
    if (codec_ == Codec::avc && is_avc_sps(unit) && !options_.keep_bframe)
        if (const auto changed = wire::codec::without_reordering(unit); changed.ok())
            return put_unit(out, *changed);
    put_unit(out, unit);
}

void VideoToRtp::set_track(Codec codec, std::string format) {
    codec_ = codec;
    std::string name(name_of(codec));
    if (codec == Codec::hevc)
        name = "H265";
    rtp_log_.set_track({MediaKind::video, std::move(name), kClockRate, 0, std::move(format)});
}

Result<bool> VideoToRtp::collect_nal_units(const Packet& packet, MediaTime shown) {
    frame_.clear();
    bool has_own_sets = false;
    bool is_needed = false;  // for frames that are kept
    const bool is_reordered = !packet.key && order_.is_reordered(shown);
    ByteReader in(packet.frame());
    while (!in.at_end()) {
        std::uint32_t length = 0;
        for (std::uint8_t i = 0; i < nal_length_size_; ++i)
            length = length << 8 | TRY(in.u8());
        const Bytes unit = TRY(in.take(length));
        if (unit.empty())
            continue;
        const Unit what = codec_ == Codec::avc ? avc_unit(unit[0]) : hevc_unit(unit[0]);
        if (what.is == Unit::Is::other || (what.is == Unit::Is::message && !is_kept_message(unit)))
            continue;
        if (what.is == Unit::Is::parameter_set) {
            has_own_sets = true;
            put_parameter_set(frame_, unit);
            continue;
        }
        is_needed = is_needed || (is_reordered && what.is_reference && !is_b_slice(unit));
        put_unit(frame_, unit);
    }
    if (packet.key && !has_own_sets)
        frame_.insert(frame_.begin(), parameter_sets_.begin(), parameter_sets_.end());
    return !is_reordered || admit_b_frame(is_needed);
}

// Constant-rate encoders put buffering and timing messages before each frame. No receiver needs them, and each would be a packet
// of its own, too small to share a GSO batch with the packets after it.
bool VideoToRtp::is_kept_message(Bytes unit) const {
    if (!options_.keep_avc_nalu_sei)
        return false;
    const auto is_timing = wire::codec::is_timing_only_sei(unit, codec_ == Codec::avc ? 1 : 2);
    return !is_timing.ok() || !*is_timing;
}

// B-frames used for reference (b-pyramid) are dropped too, where they can be recognized (H.264): browser decoders hold back no
// frame, fail on the first one presented before an earlier one, and drop everything up to the next key frame. Without these
// B-frames the video is intact if P-frames have a single reference (libx264 presets up to veryfast, most hardware); else it may
// smear up to the next key frame.
bool VideoToRtp::is_b_slice(Bytes unit) const {
    if (codec_ != Codec::avc)
        return false;
    const auto found = wire::codec::is_avc_b_slice(unit);
    return found.ok() && *found;
}

bool VideoToRtp::admit_b_frame(bool is_needed) {
    if (!has_b_frames_)
        LOG_WARN(log_,
                 "the stream has B-frames, which browsers do not reorder: {}. Better switch them off in the encoder "
                 "(tune=zerolatency, bframes=0)",
                 options_.keep_bframe ? "kept because of keep_bframe"
                                      : "they are left out for WebRTC, which gets fewer frames a second");
    has_b_frames_ = true;
    if (options_.keep_bframe || is_needed)
        return true;
    ++counters_.dropped_b_frames;
    return false;
}

Result<void> VideoToRtp::packetize(const Packet& packet) {
    switch (codec_) {
        case Codec::avc: return packetize_nal(rtp_payload::NalCodec::avc, frame_, kPayloadBytesMax, payloads_);
        case Codec::hevc: return packetize_nal(rtp_payload::NalCodec::hevc, frame_, kPayloadBytesMax, payloads_);
        case Codec::av1:
            frame_.clear();
            if (packet.key && !wire::codec::parse_av1_sequence_header(packet.frame()).ok())
                frame_ = parameter_sets_;
            frame_.insert(frame_.end(), packet.frame().begin(), packet.frame().end());
            return packetize_av1(frame_, kPayloadBytesMax, payloads_);
        case Codec::vp9: {
            const auto kind = packet.key ? rtp_payload::FrameKind::key : rtp_payload::FrameKind::inter;
            packetize_vp9(packet.frame(), kind, picture_id_++, kPayloadBytesMax, payloads_);
            return {};
        }
        default: packetize_vp8(packet.frame(), picture_id_++, kPayloadBytesMax, payloads_); return {};
    }
}

}  // namespace live::media
