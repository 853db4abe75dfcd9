#include "media/rtp/rtp_to_audio.hpp"

#include <utility>

#include "base/bytes/byte_writer.hpp"
#include "base/log/log_format.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::media {

RtpToAudio::RtpToAudio(const BridgeOptions& options, AudioTranscoders* transcoders, AudioListener& listener, const Log& log)
    : options_(options), transcoders_(transcoders), listener_(listener), log_(log) {}

bool RtpToAudio::set_track(const RtpTrack& track) {
    transcoder_.reset();
    has_config_ = false;
    codec_ = Codec::none;
    if (track.codec != "opus") {
        LOG_WARN(log_, "RTMP players get no audio: {} cannot be converted", track.codec);
        return false;
    }
    if (options_.keep_opus) {
        codec_ = Codec::opus;
        return true;
    }
    Result<std::unique_ptr<AudioTranscoder>> made = Error(Errc::unsupported, "this server has no transcoder");
    if (transcoders_ != nullptr)
        made = transcoders_->create({Codec::opus, {}, Codec::aac, options_.aac_bitrate}, listener_);
    codec_ = made.ok() ? Codec::aac : Codec::opus;
    if (made.ok())
        transcoder_ = std::move(*made);
    else
        LOG_WARN(log_, "Opus cannot be converted to AAC: {}. It is sent as Opus, which only enhanced RTMP players support",
                 made.error().text());
    return true;
}

void RtpToAudio::push(const RtpPacket& packet) {
    if (const auto converted = convert(packet); !converted.ok())
        note(converted.error());
    collect();
}

void RtpToAudio::collect() {
    while (transcoder_ != nullptr) {
        const auto frame = transcoder_->poll();
        if (!frame.ok()) {
            note(frame.error());
        } else if (frame->has_value()) {
            ++counters_.frames;
            emit(Content::frame, (*frame)->data, (*frame)->time);
        } else {
            return;
        }
    }
}

void RtpToAudio::note(const Error& error) {
    const bool is_left_out = error.code() == Errc::limit && transcoder_ != nullptr;
    if (is_left_out)
        transcoders_->note_left_out();
    if ((is_left_out ? counters_.left_out : counters_.broken)++ == 0)
        LOG_WARN(log_, "audio could not be converted to RTMP ({}); further errors are only counted", error.text());
}

Result<void> RtpToAudio::convert(const RtpPacket& packet) {
    if (codec_ == Codec::none || packet.payload.empty())
        return {};
    if (!has_config_) {
        has_config_ = true;
        ByteWriter head;
        if (transcoder_ == nullptr)
            write_opus_head(head, wire::codec::OpusHead{});
        emit(Content::config, Slice::copy_of(transcoder_ == nullptr ? head.written() : transcoder_->config()), packet.time);
    }
    if (transcoder_ == nullptr) {
        ++counters_.frames;
        emit(Content::frame, packet.payload, packet.time);
        return {};
    }
    if (is_too_fast(packet))
        return {};
    return transcoder_->push(packet.payload.bytes(), packet.time);
}

bool RtpToAudio::is_too_fast(const RtpPacket& packet) {
    if (meter_.take(audio_in(Codec::opus, packet.payload.bytes(), 0), packet.arrived))
        return false;
    transcoders_->note_too_fast();
    if (counters_.too_fast++ == 0)
        LOG_WARN(log_, "audio arrives more than {} times as fast as it plays: the excess is dropped for RTMP players and counted",
                 AudioMeter::kTimesRealTime);
    return true;
}

void RtpToAudio::emit(Content content, Slice data, MediaTime dts) {
    frames_.push_back({.codec = codec_, .content = content, .dts = dts, .data = std::move(data)});
}

std::optional<wire::codec::Frame> RtpToAudio::poll() {
    if (frames_.empty())
        return std::nullopt;
    wire::codec::Frame frame = std::move(frames_.front());
    frames_.pop_front();
    return frame;
}

}  // namespace live::media
