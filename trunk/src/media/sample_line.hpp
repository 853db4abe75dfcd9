// SampleLine: puts audio frames on a line of samples without gaps or overlaps. Their times come rounded to milliseconds and
// shake; the number of samples does not. Only when time and samples have come apart by more than the tolerance is something done
// about it: silence for what is missing, a frame left out for what is too much.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace live::media {

class SampleLine {
public:
    static constexpr std::chrono::milliseconds kTolerance{40};
    // A longer hole is not filled; the line goes on behind it.
    static constexpr std::chrono::milliseconds kFillMax{1'000};

    explicit SampleLine(std::uint32_t rate) : rate_(rate) {}

    enum class Is : std::uint8_t {
        in_line,  // goes on, behind `missing` samples of silence (0 as a rule)
        early,    // there is audio for this time already: leave it out
        restart,  // the first one, or behind a long hole: the line begins anew at the frame's time
    };
    struct Verdict {
        Is is = Is::in_line;
        std::int64_t missing = 0;
    };
    // Of the next frame. A restart has been done when this returns; what is missing is not on the line before advance().
    Verdict check(MediaTime time);
    // `samples` more are on the line.
    void advance(std::int64_t samples) { samples_ += samples; }

    // Where the line begins, and how much is on it since.
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
