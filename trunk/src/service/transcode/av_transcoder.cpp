#include "service/transcode/av_transcoder.hpp"

#include <utility>

namespace live::service::transcode {

namespace {

MediaTime duration_of(std::int64_t samples) { return MediaTime(samples * 1'000'000 / kSampleRate); }

}  // namespace

Result<std::unique_ptr<media::AudioTranscoder>> AvTranscoder::create(const AvLibrary& library, const media::Transcoding& what) {
    AvDecoder decoder = TRY(AvDecoder::create(library, what.from, what.config));
    AvEncoder encoder = TRY(AvEncoder::create(library, what.to, what.bitrate));
    return std::unique_ptr<media::AudioTranscoder>(std::make_unique<AvTranscoder>(std::move(decoder), std::move(encoder)));
}

Result<void> AvTranscoder::push(Bytes frame, MediaTime time) {
    using Is = media::AudioSampleClock::Is;
    // The output begins with samples of the previous frame that are still in the resampler.
    const MediaTime begins = time - duration_of(decoder_.delay());
    decoded_.clear();
    TRY(decoder_.decode(frame, decoded_));
    const auto verdict = line_.check(begins);
    if (verdict.is == Is::early)
        return {};
    if (verdict.is == Is::restart)
        waiting_.clear();
    waiting_.insert(waiting_.end(), static_cast<std::size_t>(verdict.missing) * kChannels, 0.0F);
    waiting_.insert(waiting_.end(), decoded_.begin(), decoded_.end());
    line_.advance(verdict.missing + static_cast<std::int64_t>(decoded_.size() / kChannels));
    return encode();
}

Result<void> AvTranscoder::encode() {
    const std::size_t wanted = encoder_.frame_samples() * kChannels;
    std::size_t at = 0;
    Result<void> result;
    for (; result.ok() && waiting_.size() - at >= wanted; at += wanted) {
        const auto left = static_cast<std::int64_t>((waiting_.size() - at) / kChannels);
        result = encoder_.encode(std::span(waiting_).subspan(at, wanted));
        if (result.ok())
            times_.push_back(line_.time_at(line_.samples() - left) - duration_of(encoder_.lead()));
        while (!times_.empty()) {
            auto data = encoder_.poll();
            if (!data.ok())
                return std::move(data).error();
            if (!data->has_value())
                break;
            ready_.push_back({std::move(**data), times_.front()});
            times_.pop_front();
        }
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
    return result;
}

Result<std::optional<media::AudioFrame>> AvTranscoder::poll() {
    if (ready_.empty())
        return std::optional<media::AudioFrame>();
    media::AudioFrame frame = std::move(ready_.front());
    ready_.pop_front();
    return std::optional(std::move(frame));
}

}  // namespace live::service::transcode
