// AvTranscoder: an AudioTranscoder with libavcodec. One per stream, whatever the number of players. It works inside push() and
// poll(): a frame of noise, the worst case, takes 0.2 ms. OffLoopTranscoder moves that to a worker thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "media/rtp/audio_sample_clock.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "service/transcode/av_decoder.hpp"
#include "service/transcode/av_encoder.hpp"

namespace live::service::transcode {

class AvTranscoder final : public media::AudioTranscoder {
public:
    // `library` outlives this.
    static Result<std::unique_ptr<media::AudioTranscoder>> create(const AvLibrary& library, const media::Transcoding& what);

    AvTranscoder(AvDecoder decoder, AvEncoder encoder) : decoder_(std::move(decoder)), encoder_(std::move(encoder)) {}

    Result<void> push(Bytes frame, MediaTime time) override;
    Result<std::optional<media::AudioFrame>> poll() override;
    Bytes config() const override { return encoder_.config(); }
    bool is_idle() const override { return ready_.empty(); }

private:
    Result<void> encode();

    AvDecoder decoder_;
    AvEncoder encoder_;
    media::AudioSampleClock line_{kSampleRate};
    std::vector<float> decoded_;   // of the current frame
    std::vector<float> waiting_;   // less than one encoder input, except while it is filled
    std::deque<MediaTime> times_;  // of frames that are still in the encoder
    std::deque<media::AudioFrame> ready_;
};

}  // namespace live::service::transcode
