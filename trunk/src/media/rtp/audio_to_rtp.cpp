#include "media/rtp/audio_to_rtp.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::media {

AudioToRtp::AudioToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, AudioListener& listener,
                       const Log& log)
    : rtp_log_(rtp_log), options_(options), transcoders_(transcoders), listener_(listener), log_(log) {}

void AudioToRtp::push(const Packet& packet) {
    arrived_ = packet.arrived;
    if (const auto converted = convert(packet); !converted.ok())
        note(converted.error());
    collect();
}

void AudioToRtp::collect() {
    while (transcoder_ != nullptr) {
        auto frame = transcoder_->poll();
        if (!frame.ok())
            note(frame.error());
        else if (frame->has_value())
            send(std::move((*frame)->data), (*frame)->time);
        else
            return;
    }
}

void AudioToRtp::note(const Error& error) {
    const bool is_left_out = error.code() == Errc::limit && transcoder_ != nullptr;
    if (is_left_out)
        transcoders_->note_left_out();
    if ((is_left_out ? counters_.left_out : counters_.broken)++ == 0)
        LOG_WARN(log_, "audio could not be converted to RTP ({}); further errors are only counted", error.text());
}

Result<void> AudioToRtp::convert(const Packet& packet) {
    if (packet.is_config())
        return set_config(packet);
    if (packet.content != Content::frame || packet.frame_bytes() == 0)
        return {};
    if (packet.codec == Codec::opus)
        return codec_ == Codec::opus ? pass_on(packet) : Result<void>();
    // AAC is described by its configuration, other codecs by each frame.
    if (packet.codec != codec_ && packet.codec != Codec::aac)
        make_transcoder(packet.codec, {});
    if (packet.codec != codec_ || transcoder_ == nullptr)
        return {};
    if (is_too_fast(packet))
        return {};
    return transcoder_->push(packet.frame(), packet.dts);
}

Result<void> AudioToRtp::set_config(const Packet& packet) {
    if (packet.codec == Codec::opus)
        return set_opus(packet.frame());
    if (packet.codec != codec_ || !std::ranges::equal(config_, packet.frame()))
        make_transcoder(packet.codec, packet.frame());
    return {};
}

Result<void> AudioToRtp::set_opus(Bytes head) {
    const auto opus = TRY(wire::codec::parse_opus_head(head));
    transcoder_.reset();
    codec_ = Codec::none;
    if (opus.mapping_family != 0)
        return Error(Errc::unsupported, "Opus of more than two channels");
    codec_ = Codec::opus;
    set_track();
    return {};
}

void AudioToRtp::make_transcoder(Codec codec, Bytes config) {
    is_refused_ = is_refused_ && codec == codec_;
    codec_ = codec;
    config_.assign(config.begin(), config.end());
    const auto aac = wire::codec::parse_aac_config(config);
    sample_rate_ = aac.ok() ? aac->sample_rate : kClockRate;
    transcoder_.reset();
    Result<std::unique_ptr<AudioTranscoder>> made = Error(Errc::unsupported, "this server has no transcoder");
    if (transcoders_ != nullptr)
        made = transcoders_->create({codec, config, Codec::opus, options_.opus_bitrate}, listener_);
    if (made.ok()) {
        transcoder_ = std::move(*made);
        set_track();
        return;
    }
    if (!std::exchange(is_refused_, true))
        LOG_WARN(log_, "WebRTC players get no audio: {} cannot be converted to Opus: {}", name_of(codec), made.error().text());
}

bool AudioToRtp::is_too_fast(const Packet& packet) {
    if (meter_.take(audio_in(packet.codec, packet.frame(), sample_rate_), packet.arrived))
        return false;
    transcoders_->note_too_fast();
    if (counters_.too_fast++ == 0)
        LOG_WARN(log_,
                 "audio arrives more than {} times as fast as it plays: the excess is dropped for WebRTC players and counted",
                 AudioMeter::kTimesRealTime);
    return true;
}

Result<void> AudioToRtp::pass_on(const Packet& packet) {
    const std::uint32_t samples = TRY(wire::codec::opus_samples(packet.frame()));
    const auto verdict = opus_line_.check(packet.dts);
    if (verdict.is == AudioSampleClock::Is::early)
        return {};
    opus_line_.advance(verdict.missing);
    send(packet.frame_slice(), opus_line_.end());
    opus_line_.advance(samples);
    return {};
}

void AudioToRtp::send(Slice payload, MediaTime time) {
    ++counters_.packets;
    rtp_log_.append({.kind = MediaKind::audio,
                     .timestamp = rtp_timestamp(time, kClockRate),
                     .marker = false,
                     .payload = std::move(payload),
                     .arrived = arrived_,
                     .time = time});
}

void AudioToRtp::set_track() { rtp_log_.set_track({MediaKind::audio, "opus", kClockRate, 2, "minptime=10;useinbandfec=1"}); }

}  // namespace live::media
