#include "media/rtp/audio_sample_clock.hpp"

namespace live::media {

MediaTime AudioSampleClock::time_at(std::int64_t sample) const {
    constexpr std::int64_t kMicroseconds = 1'000'000;
    const std::int64_t rate = rate_;
    return begin_ + MediaTime(sample / rate * kMicroseconds + sample % rate * kMicroseconds / rate);
}

AudioSampleClock::Verdict AudioSampleClock::check(MediaTime time) {
    const MediaTime ahead = time - end();
    if (!started_ || ahead > kFillMax) {
        started_ = true;
        begin_ = time;
        samples_ = 0;
        return {Is::restart, 0};
    }
    if (ahead < -kTolerance)
        return {Is::early, 0};
    if (ahead <= kTolerance)
        return {Is::in_line, 0};
    return {Is::in_line, ahead.count() * rate_ / 1'000'000};
}

}  // namespace live::media
