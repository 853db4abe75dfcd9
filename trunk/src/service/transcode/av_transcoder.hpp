// AvTranscoder: an AudioTranscoder by libavcodec. One a stream, whatever the number of players. It answers in push() and poll():
// a frame takes 0.2 ms when it is noise, the worst there is. OffLoopTranscoder has that done in a worker thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "media/audio_transcoder.hpp"
#include "media/sample_line.hpp"
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
    media::SampleLine line_{kSampleRate};
    std::vector<float> decoded_;   // of the frame in hand
    std::vector<float> waiting_;   // less than the encoder wants, but while it is filled
    std::deque<MediaTime> times_;  // of frames that the encoder has and has not given back
    std::deque<media::AudioFrame> ready_;
};

}  // namespace live::service::transcode
