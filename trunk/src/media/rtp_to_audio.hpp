// RtpToAudio: packets of one audio track become frames: of AAC by a transcoder, or of Opus as they are where there is none.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "base/log.hpp"
#include "media/audio_meter.hpp"
#include "media/audio_transcoder.hpp"
#include "media/options.hpp"
#include "media/rtp_log.hpp"

namespace live::media {

class RtpToAudio {
public:
    struct Counters {
        std::uint64_t frames = 0;
        std::uint64_t broken = 0;
        std::uint64_t too_fast = 0;  // packets that were left out (AudioMeter)
        std::uint64_t left_out = 0;  // packets that were left out because too many waited (AudioTranscoder)
    };

    // All outlive this; `transcoders` may be nullptr. The listener is told when collect() has something to do.
    RtpToAudio(const BridgeOptions& options, AudioTranscoders* transcoders, AudioListener& listener, const Log& log);

    // Begins anew. False when nothing can be made of this codec; that is said in the log.
    bool set_track(const RtpTrack& track);
    void push(const RtpPacket& packet);
    // Takes what has been converted since, for poll().
    void collect();
    std::optional<wire::codec::Frame> poll();
    // Of what was pushed, nothing is being converted any more.
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
    std::unique_ptr<AudioTranscoder> transcoder_;  // none while Opus is passed on
    AudioMeter meter_;
    std::deque<wire::codec::Frame> frames_;
    Counters counters_;
    bool has_config_ = false;  // emitted
};

}  // namespace live::media
