// AudioToRtp: packets of audio become packets of a RTP log: Opus as it is, everything else through a transcoder.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/log.hpp"
#include "media/audio_meter.hpp"
#include "media/audio_transcoder.hpp"
#include "media/options.hpp"
#include "media/packet.hpp"
#include "media/rtp_log.hpp"
#include "media/sample_line.hpp"

namespace live::media {

class AudioToRtp {
public:
    static constexpr std::uint32_t kClockRate = 48'000;

    struct Counters {
        std::uint64_t packets = 0;   // sent
        std::uint64_t broken = 0;    // bodies that could not be read or decoded
        std::uint64_t too_fast = 0;  // frames that were left out (AudioMeter)
        std::uint64_t left_out = 0;  // frames that were left out because too many waited (AudioTranscoder)
    };

    // All outlive this; without `transcoders` (nullptr) there is audio only where it is Opus already. The listener is told when
    // collect() has something to do.
    AudioToRtp(RtpLog& rtp_log, const BridgeOptions& options, AudioTranscoders* transcoders, AudioListener& listener,
               const Log& log);

    // An audio packet of the source, sequence headers too, in order.
    void push(const Packet& packet);
    // Takes what has been converted since into the rtp_log.
    void collect();
    // Of what was pushed, nothing is being converted any more.
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
    std::vector<std::uint8_t> config_;             // that the transcoder was made for
    std::unique_ptr<AudioTranscoder> transcoder_;  // none for Opus, and where none could be made
    std::uint32_t sample_rate_ = 0;                // of AAC
    AudioMeter meter_;
    SampleLine opus_line_{kClockRate};
    TimePoint arrived_;  // the newest frame
    Counters counters_;
    bool is_refused_ = false;  // this codec cannot be converted; said in the log
};

}  // namespace live::media
