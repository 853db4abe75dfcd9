// Pace: when requests to one server may begin, and how many at a time: growing pauses while it fails, half as many requests at
// once after each SlowDown, one more after a run of successes. Dry.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/backoff.hpp"
#include "base/time.hpp"

namespace live::engine::s3 {

// slow_down: 503 SlowDown, 429 and other 5xx. denied: the credentials, their rights, or the bucket.
enum class Trouble : std::uint8_t { unreachable, slow_down, denied };
inline constexpr std::size_t kTroubles = 3;

class Pace {
public:
    static constexpr std::chrono::milliseconds kPauseFirst{500};
    static constexpr std::chrono::milliseconds kPauseGreatest{60'000};
    static constexpr std::uint32_t kSuccessesPerStep = 8;

    explicit Pace(std::uint32_t parallel) : greatest_(parallel), allowed_(parallel) {}

    void set_parallel(std::uint32_t parallel) {
        greatest_ = parallel;
        allowed_ = std::clamp(allowed_, 1U, parallel);
    }
    std::uint32_t allowed() const { return allowed_; }
    TimePoint paused_until() const { return paused_until_; }
    bool may_begin(TimePoint now, std::uint32_t under_way) const { return now >= paused_until_ && under_way < allowed_; }

    void succeeded() {
        pauses_.reset();
        if (++successes_ < kSuccessesPerStep)
            return;
        successes_ = 0;
        allowed_ = std::min(allowed_ + 1, greatest_);
    }
    // Requests that were under way together fail together: they make one pause.
    void failed(Trouble trouble, TimePoint now, std::uint32_t random) {
        successes_ = 0;
        if (now < paused_until_)
            return;
        if (trouble == Trouble::slow_down)
            allowed_ = std::max(allowed_ / 2, 1U);
        paused_until_ = now + pauses_.next(random);
    }

private:
    std::uint32_t greatest_;
    std::uint32_t allowed_;
    std::uint32_t successes_ = 0;
    Backoff pauses_{kPauseFirst, kPauseGreatest};
    TimePoint paused_until_{};
};

}  // namespace live::engine::s3
