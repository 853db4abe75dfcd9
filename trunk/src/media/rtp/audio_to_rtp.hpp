// AudioToRtp: converts audio packets to packets of an RTP log: Opus passes through, everything else is transcoded.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/log/log.hpp"
#include "media/ring/options.hpp"
#include "media/ring/packet.hpp"
#include "media/rtp/audio_meter.hpp"
#include "media/rtp/audio_sample_clock.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "media/rtp/rtp_log.hpp"

namespace live::media {

class AudioToRtp {
public:
    static constexpr std::uint32_t kClockRate = 48'000;

    struct Counters {
        std::uint64_t packets = 0;   // sent
        std::uint64_t broken = 0;    // bodies that could not be parsed or decoded
        std::uint64_t too_fast = 0;  // frames dropped by AudioMeter
        std::uint64_t left_out = 0;  // frames dropped because too many were queued (AudioTranscoder)
    };

    // All arguments outlive this. Without `transcoders` (nullptr), only Opus is carried. The listener is notified when collect()
    // has work to do.
    AudioToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, AudioListener& listener,
               const Log& log);

    // An audio packet of the source, including sequence headers, in order.
    void push(const Packet& packet);
    // Appends the audio converted so far to the RTP log.
    void collect();
    // Reports whether the conversion of everything that was pushed is complete.
    bool is_idle() const { return transcoder_ == nullptr || transcoder_->is_idle(); }
    const Counters& counters() const { return counters_; }

private:
    Result<void> convert(const Packet& packet);
    Result<void> set_config(const Packet& packet);
    Result<void> set_opus(Bytes head);
    void make_transcoder(Codec codec, Bytes config);
    bool is_too_fast(const Packet& packet);
    Result<void> pass_on(const Packet& packet);
    void send(Slice payload, MediaTime time);
    void note(const Error& error);
    void set_track();

    RtpLog& rtp_log_;
    BridgeOptions options_;
    AudioTranscoders* transcoders_;
    AudioListener& listener_;
    const Log& log_;
    Codec codec_ = Codec::none;
    std::vector<std::uint8_t> config_;             // of the transcoder, to recognise a repetition
    std::unique_ptr<AudioTranscoder> transcoder_;  // nullptr for Opus, and if none could be created
    std::uint32_t sample_rate_ = 0;                // AAC only
    AudioMeter meter_;
    AudioSampleClock opus_line_{kClockRate};
    TimePoint arrived_;  // of the newest frame
    Counters counters_;
    bool is_refused_ = false;  // this codec cannot be converted; logged
};

}  // namespace live::media
