// RtpToAudio: converts packets of one audio track to frames: AAC through a transcoder, or unchanged Opus without one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/log/log.hpp"
#include "media/ring/options.hpp"
#include "media/rtp/audio_meter.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "media/rtp/rtp_log.hpp"

namespace live::media {

class RtpToAudio {
public:
    struct Counters {
        std::uint64_t frames = 0;
        std::uint64_t broken = 0;
        std::uint64_t too_fast = 0;  // packets dropped by AudioMeter
        std::uint64_t left_out = 0;  // packets dropped because too many were queued (AudioTranscoder)
    };

    // All arguments outlive this; `transcoders` may be nullptr. The listener is notified when collect() has work to do.
    RtpToAudio(const BridgeOptions& options, AudioTranscoders* transcoders, AudioListener& listener, const Log& log);

    // Starts over. False if this codec cannot be converted, which is logged.
    bool set_track(const RtpTrack& track);
    void push(const RtpPacket& packet);
    // Makes the audio converted so far available to poll().
    void collect();
    std::optional<wire::codec::Frame> poll();
    // Reports whether the conversion of everything that was pushed is complete.
    bool is_idle() const { return transcoder_ == nullptr || transcoder_->is_idle(); }
    // none, AAC or Opus
    Codec codec() const { return codec_; }
    const Counters& counters() const { return counters_; }

private:
    Result<void> convert(const RtpPacket& packet);
    bool is_too_fast(const RtpPacket& packet);
    void emit(Content content, Slice data, MediaTime dts);
    void note(const Error& error);

    BridgeOptions options_;
    AudioTranscoders* transcoders_;
    AudioListener& listener_;
    const Log& log_;
    Codec codec_ = Codec::none;
    std::unique_ptr<AudioTranscoder> transcoder_;  // nullptr while Opus passes through
    AudioMeter meter_;
    std::deque<wire::codec::Frame> frames_;
    Counters counters_;
    bool has_config_ = false;  // emitted
};

}  // namespace live::media
