// AudioSampleClock: places audio frames on a continuous sample timeline without gaps or overlaps. Frame times are rounded to
// milliseconds and jitter; sample counts do not. Only if time and sample count diverge by more than the tolerance are they
// corrected: silence for missing audio, a dropped frame for excess audio.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace live::media {

class AudioSampleClock {
public:
    static constexpr std::chrono::milliseconds kTolerance{40};
    // A longer gap is not filled; the timeline restarts after it.
    static constexpr std::chrono::milliseconds kFillMax{1'000};

    explicit AudioSampleClock(std::uint32_t rate) : rate_(rate) {}

    enum class Is : std::uint8_t {
        in_line,  // continues after `missing` samples of silence (usually 0)
        early,    // audio for this time already exists: drop it
        restart,  // the first frame, or one after a long gap: the timeline restarts at the frame's time
    };
    struct Verdict {
        Is is = Is::in_line;
        std::int64_t missing = 0;
    };
    // For the next frame. A restart has been applied on return; missing samples are added only by advance().
    Verdict check(MediaTime time);
    // Adds `samples` to the timeline.
    void advance(std::int64_t samples) { samples_ += samples; }

    // Where the timeline begins, and the number of samples since.
    MediaTime begin() const { return begin_; }
    std::int64_t samples() const { return samples_; }
    MediaTime end() const { return time_at(samples_); }
    MediaTime time_at(std::int64_t sample) const;

private:
    MediaTime begin_{};
    std::int64_t samples_ = 0;
    std::uint32_t rate_;
    bool started_ = false;
};

}  // namespace live::media
