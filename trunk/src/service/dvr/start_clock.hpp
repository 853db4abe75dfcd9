// StartClock: the wall clock of the first packet of each file of a recorder. Consecutive files follow each other by media time,
// so that the jitter of the network and of polls makes no gap between them. Dry.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text/wall_time_text.hpp"
#include "base/time.hpp"

namespace live::service::dvr {

class StartClock {
public:
    // An offset up to kSlewMin is jitter. A larger one is drift: from one file to the next, the time moves by kSlewMax towards
    // the clock. By more than kJumpMin, the clock was set.
    static constexpr MediaTime kSlewMin = std::chrono::seconds(1);
    static constexpr MediaTime kSlewMax = std::chrono::milliseconds(10);
    static constexpr MediaTime kJumpMin = std::chrono::seconds(60);

    // For the packet at `media` that begins a file at `now`.
    WallTime start_of(MediaTime media, WallTime now) {
        const WallTime expected = anchor_ ? anchor_->wall + (media - anchor_->media) : now;
        const MediaTime off = now - expected;
        const bool was_set = off > kJumpMin || off < -kJumpMin;
        const bool drifts = off > kSlewMin || off < -kSlewMin;
        const MediaTime slew = drifts ? std::clamp(off, -kSlewMax, kSlewMax) : MediaTime();
        anchor_ = {was_set ? now : expected + slew, media};
        return anchor_->wall;
    }

private:
    struct Anchor {
        WallTime wall{};
        MediaTime media{};
    };
    std::optional<Anchor> anchor_;
};

}  // namespace live::service::dvr
