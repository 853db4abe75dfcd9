// LawConverter: G.711 as AAC, which every player has, by the transcoder that WebRTC audio uses. One track.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/log/log.hpp"
#include "media/ring/options.hpp"
#include "media/rtp/audio_meter.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "wire/codec/frame.hpp"

namespace live::media {

class LawConverter {
public:
    // All outlive this; `transcoders` may be nullptr. The listener is notified when next() has more.
    LawConverter(AudioTranscoders* transcoders, const BridgeOptions& options, AudioListener& listener, const Log& log)
        : transcoders_(transcoders), options_(options), listener_(listener), log_(log) {}

    // False: the frame is to be published as it is, because there is no transcoder.
    bool push(const wire::codec::Frame& frame, TimePoint arrived);
    // AAC: the configuration, then frames.
    std::optional<wire::codec::Frame> next();

private:
    void start(wire::codec::Codec codec);
    void note(const Error& error);

    AudioTranscoders* transcoders_;
    const BridgeOptions options_;
    AudioListener& listener_;
    const Log& log_;
    wire::codec::Codec codec_ = wire::codec::Codec::none;
    std::unique_ptr<AudioTranscoder> transcoder_;
    AudioMeter meter_;
    bool has_config_ = false;          // returned
    std::optional<AudioFrame> first_;  // waits behind the configuration
    std::uint64_t broken_ = 0;
};

}  // namespace live::media
