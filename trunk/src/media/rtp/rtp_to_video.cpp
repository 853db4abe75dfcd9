#include "media/rtp/rtp_to_video.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/log/log_format.hpp"
#include "wire/codec/video/av1.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"
#include "wire/codec/video/picture_units.hpp"
#include "wire/codec/video/vp9.hpp"

namespace live::media {

namespace codec = wire::codec;
namespace rtp_payload = wire::rtp_payload;

namespace {

constexpr std::size_t kNoSet = 3;

struct Named {
    std::string_view name;
    Codec codec;
};
constexpr std::array kCodecs = {Named{"H264", Codec::avc}, Named{"H265", Codec::hevc}, Named{"VP8", Codec::vp8},
                                Named{"VP9", Codec::vp9},  Named{"AV1", Codec::av1},   Named{"JPEG", Codec::mjpeg}};

bool has_nal_units(Codec codec) { return codec == Codec::avc || codec == Codec::hevc; }

// RFC 6386, 9.1: three bytes of frame tag, the start code, then width and height of 14 bits each.
Result<codec::SpsInfo> parse_vp8_key_frame(Bytes frame) {
    constexpr std::uint32_t kStartCode = 0x9D012A;
    ByteReader in(frame);
    const unsigned head = TRY(in.u8());
    TRY(in.skip(2));
    if (TRY(in.u24be()) != kStartCode)
        return Error(Errc::malformed, "no VP8 start code");
    codec::SpsInfo info;
    info.profile = head >> 1 & 7U;
    const auto side = [&in]() -> Result<std::uint32_t> {
        const std::uint32_t low = TRY(in.u8());
        return low | (TRY(in.u8()) & 0x3FU) << 8;
    };
    info.width = TRY(side());
    info.height = TRY(side());
    return info;
}

// "VP Codec ISO Media File Format Binding", 2.2: version 1, profile, level (unknown), 8 bits 4:2:0, unspecified colours.
std::vector<std::uint8_t> vpx_record(std::uint8_t profile) {
    constexpr std::uint8_t kDepthAndChroma = 8 << 4 | 1 << 1;
    constexpr std::uint8_t kUnspecified = 2;
    return {1, 0, 0, 0, profile, 0, kDepthAndChroma, kUnspecified, kUnspecified, kUnspecified, 0, 0};
}

}  // namespace

bool RtpToVideo::set_track(const RtpTrack& track) {
    const auto named = std::ranges::find(kCodecs, track.codec, &Named::name);
    codec_ = named == kCodecs.end() ? Codec::none : named->codec;
    switch (codec_) {
        case Codec::avc: depacketizer_ = rtp_payload::NalDepacketizer(rtp_payload::NalCodec::avc); break;
        case Codec::hevc: depacketizer_ = rtp_payload::NalDepacketizer(rtp_payload::NalCodec::hevc); break;
        case Codec::vp8: depacketizer_ = rtp_payload::VpxDepacketizer(rtp_payload::VpxCodec::vp8); break;
        case Codec::vp9: depacketizer_ = rtp_payload::VpxDepacketizer(rtp_payload::VpxCodec::vp9); break;
        case Codec::av1: depacketizer_ = rtp_payload::Av1Depacketizer(); break;
        case Codec::mjpeg: depacketizer_ = rtp_payload::JpegDepacketizer(); break;
        default:
            depacketizer_ = std::monostate();
            LOG_WARN(log_, "RTMP players get no video: RTMP cannot carry {}", track.codec);
            break;
    }
    for (Sets& sets : sets_)
        sets.clear();
    config_.clear();
    waits_ = true;
    return codec_ != Codec::none;
}

void RtpToVideo::add_parameter_sets(const std::vector<std::vector<std::uint8_t>>& units) {
    for (const std::vector<std::uint8_t>& unit : units)
        if (const std::size_t type = unit.empty() || !has_nal_units(codec_) ? kNoSet : type_of_set(unit);
            type != kNoSet && sets_[type].size() < kParameterSetsMax)
            sets_[type].push_back(unit);
}

void RtpToVideo::push(const rtp_payload::Fragment& packet, MediaTime time) {
    stamps_[next_stamp_] = {packet.timestamp, time};
    next_stamp_ = (next_stamp_ + 1) % stamps_.size();
    std::visit(
        [&](auto& depacketizer) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(depacketizer)>, std::monostate>) {
                const std::uint64_t lost = depacketizer.lost_frames();
                // A bad packet spoils its frame, and the depacketizer counts that.
                static_cast<void>(depacketizer.push(packet));
                // A frame completed by this packet follows the loss.
                if (depacketizer.lost_frames() != lost)
                    waits_ = true;
                while (auto frame = depacketizer.poll()) {
                    take(*frame);
                    rtp_payload::FrameBuilder::recycle(std::move(frame->data));
                }
                wants_key_frame_ = wants_key_frame_ || (waits_ && depacketizer.lost_frames() != lost);
            }
        },
        depacketizer_);
}

std::optional<codec::Frame> RtpToVideo::poll() {
    if (frames_.empty())
        return std::nullopt;
    codec::Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

MediaTime RtpToVideo::time_of(std::uint32_t timestamp) const {
    const auto stamp = std::ranges::find(stamps_, timestamp, &Stamp::timestamp);
    return stamp == stamps_.end() ? stamps_[(next_stamp_ + stamps_.size() - 1) % stamps_.size()].time : stamp->time;
}

void RtpToVideo::take(rtp_payload::Frame& frame) {
    // ffmpeg calls no frame of VP9 predicted.
    if (codec_ == Codec::vp9 && frame.is_key)
        frame.is_key = codec::is_random_access(codec_, 0, frame.data);
    if (frame.is_key)
        waits_ = false;
    else if (frame.follows_loss)
        waits_ = true;
    if (waits_ && has_nal_units(codec_))
        static_cast<void>(split_off_sets(frame.data));  // parameter sets may be in a separate frame
    if (waits_) {
        wants_key_frame_ = true;
        ++counters_.dropped;
        return;
    }
    if (const auto converted = convert(frame); !converted.ok()) {
        if (counters_.dropped++ == 0)
            LOG_WARN(log_, "a frame could not be converted to RTMP ({}); further ones are only counted",
                     converted.error().text());
        waits_ = true;
        wants_key_frame_ = true;
    }
}

Result<void> RtpToVideo::convert(const rtp_payload::Frame& frame) {
    Bytes body = frame.data;
    if (has_nal_units(codec_)) {
        body = TRY(split_off_sets(frame.data));
    }
    if (frame.is_key && codec_ != Codec::mjpeg)
        TRY(remake_config(frame));
    if (body.empty())
        return {};
    const MediaTime shown = time_of(frame.timestamp);
    const MediaTime dts = order_.place(shown);
    ++counters_.frames;
    emit({.content = Content::frame,
          .key = frame.is_key,
          .dts = dts,
          .cts = std::chrono::milliseconds(std::max<std::int64_t>(0, to_ms(shown) - to_ms(dts)))},
         body);
    return {};
}

std::size_t RtpToVideo::type_of_set(Bytes unit) const {
    if (codec_ == Codec::avc) {
        const unsigned type = unit[0] & 0x1FU;
        return type == 7 ? 1 : type == 8 ? 2 : kNoSet;
    }
    const unsigned type = unit[0] >> 1 & 0x3FU;
    return type >= codec::HevcConfig::kVps && type <= codec::HevcConfig::kPps ? type - codec::HevcConfig::kVps : kNoSet;
}

Result<Bytes> RtpToVideo::split_off_sets(Bytes frame) {
    units_.clear();
    std::array<Sets, 3> found;
    bool is_split = false;
    ByteReader in(frame);
    while (!in.at_end()) {
        const std::size_t begin = in.position();
        const Bytes unit = TRY(in.take(TRY(in.u32be())));
        const std::size_t type = unit.empty() ? kNoSet : type_of_set(unit);
        const bool stays = !unit.empty() && type == kNoSet;
        if (!stays && !std::exchange(is_split, true))
            units_.assign(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(begin));
        if (stays && is_split) {
            const Bytes whole = frame.subspan(begin, in.position() - begin);
            units_.insert(units_.end(), whole.begin(), whole.end());
        } else if (type != kNoSet && found[type].size() < kParameterSetsMax) {
            found[type].emplace_back(unit.begin(), unit.end());
        }
    }
    for (std::size_t type = 0; type < found.size(); ++type)
        if (!found[type].empty())
            sets_[type] = std::move(found[type]);
    return is_split ? Bytes(units_) : frame;
}

Result<void> RtpToVideo::remake_config(const rtp_payload::Frame& frame) {
    auto config = TRY(make_config(frame.data));
    if (config == config_)
        return {};
    config_ = std::move(config);
    emit({.content = Content::config, .dts = time_of(frame.timestamp)}, config_);
    return {};
}

Result<std::vector<std::uint8_t>> RtpToVideo::make_config(Bytes frame) {
    std::array<std::vector<Bytes>, 3> sets;
    for (std::size_t type = 0; type < sets.size(); ++type)
        sets[type].assign(sets_[type].begin(), sets_[type].end());
    switch (codec_) {
        case Codec::avc:
            if (sets[1].empty() || sets[2].empty())
                return Error(Errc::not_found, "a key frame without parameter sets");
            picture_ = TRY(codec::parse_avc_sps(sets[1].front()));
            return codec::make_avc_config(sets[1], sets[2]);
        case Codec::hevc:
            if (sets[0].empty() || sets[1].empty() || sets[2].empty())
                return Error(Errc::not_found, "a key frame without parameter sets");
            picture_ = TRY(codec::parse_hevc_sps(sets[1].front()));
            return codec::make_hevc_config(sets[0], sets[1], sets[2]);
        case Codec::av1: picture_ = TRY(codec::parse_av1_sequence_header(frame)); return codec::make_av1_config(frame);
        case Codec::vp9: picture_ = TRY(codec::parse_vp9_key_frame(frame)); return vpx_record(picture_.profile);
        default: picture_ = TRY(parse_vp8_key_frame(frame)); return vpx_record(picture_.profile);
    }
}

void RtpToVideo::emit(codec::Frame frame, Bytes data) {
    frame.codec = codec_;
    std::tie(frame.data, frame.shares_memory) = blocks_.copy_of(data);
    frames_.push_back(std::move(frame));
}

}  // namespace live::media
