#include "media/rtp_to_audio.hpp"

#include <utility>

#include "base/byte_writer.hpp"
#include "base/log_format.hpp"
#include "wire/codec/opus.hpp"
#include "wire/flv/audio_tag.hpp"

namespace live::media {

namespace flv = wire::flv;

RtpToAudio::RtpToAudio(const BridgeOptions& options, AudioTranscoders* transcoders, const Log& log)
    : options_(options), transcoders_(transcoders), log_(log) {}

bool RtpToAudio::set_track(const RtpTrack& track) {
    transcoder_.reset();
    has_config_ = false;
    codec_ = Codec::none;
    if (track.codec != "opus") {
        LOG_WARN(log_, "RTMP players get no sound: nothing can be made of {}", track.codec);
        return false;
    }
    Result<std::unique_ptr<AudioTranscoder>> made = Error(Errc::unsupported, "this server has no transcoder");
    if (transcoders_ != nullptr)
        made = transcoders_->create({Codec::opus, {}, Codec::aac, options_.aac_bitrate});
    codec_ = made.ok() ? Codec::aac : Codec::opus;
    if (made.ok())
        transcoder_ = std::move(*made);
    else
        LOG_WARN(log_, "Opus cannot be made AAC: {}. It goes on as Opus, which only players of enhanced RTMP know",
                 made.error().text());
    return true;
}

void RtpToAudio::push(const RtpPacket& packet) {
    if (const auto converted = convert(packet); !converted.ok() && counters_.broken++ == 0)
        LOG_WARN(log_, "sound could not be made RTMP ({}); further ones are counted only", converted.error().text());
}

Result<void> RtpToAudio::convert(const RtpPacket& packet) {
    if (codec_ == Codec::none || packet.payload.empty())
        return {};
    if (!has_config_) {
        has_config_ = true;
        ByteWriter head;
        if (transcoder_ == nullptr)
            write_opus_head(head, wire::codec::OpusHead{});
        emit(true, transcoder_ == nullptr ? head.written() : transcoder_->config(), packet.time);
    }
    if (transcoder_ == nullptr) {
        ++counters_.frames;
        emit(false, packet.payload.bytes(), packet.time);
        return {};
    }
    if (is_too_fast(packet))
        return {};
    const auto pushed = transcoder_->push(packet.payload.bytes(), packet.time);
    while (const auto frame = transcoder_->poll()) {
        ++counters_.frames;
        emit(false, frame->data.bytes(), frame->time);
    }
    return pushed;
}

bool RtpToAudio::is_too_fast(const RtpPacket& packet) {
    if (meter_.take(sound_in(Codec::opus, packet.payload.bytes(), 0), packet.arrived))
        return false;
    transcoders_->note_too_fast();
    if (counters_.too_fast++ == 0)
        LOG_WARN(log_,
                 "sound comes more than {} times as fast as it plays: RTMP players miss what is too much; it is counted only",
                 SoundMeter::kTimesRealTime);
    return true;
}

void RtpToAudio::emit(bool is_config, Bytes content, MediaTime dts) {
    flv::AudioTag tag;
    tag.codec = codec_;
    tag.kind = is_config ? flv::PacketKind::sequence_header : flv::PacketKind::frames;
    // AAC always says this in the classic header.
    tag.sample_rate = 44'100;
    tag.sample_bits = 16;
    tag.channels = 2;
    tag.enhanced = codec_ == Codec::opus;
    tag.body = content;
    ByteWriter out;
    write_audio_tag(out, tag);
    bodies_.push_back({Slice::copy_of(out.written()), dts});
}

std::optional<RtpToAudio::Body> RtpToAudio::poll() {
    if (bodies_.empty())
        return std::nullopt;
    Body body = std::move(bodies_.front());
    bodies_.pop_front();
    return body;
}

}  // namespace live::media
