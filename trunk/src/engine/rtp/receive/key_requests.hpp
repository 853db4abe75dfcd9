// Schedules key frame requests to a publisher: at once, but rate-limited, and repeated until one arrives.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace live::engine::rtp {

class KeyRequests {
public:
    // Minimum interval between two requests, and the interval for repeating an unanswered one.
    static constexpr std::chrono::milliseconds kInterval = 500ms;
    static constexpr std::chrono::milliseconds kRepeat = 1s;

    // A key frame is wanted.
    void want() { is_wanted_ = true; }
    // The stream is unusable without one, so requests repeat until it has arrived.
    void need() {
        is_wanted_ = true;
        is_needed_ = true;
    }
    void arrived() { is_needed_ = false; }
    bool is_needed() const { return is_needed_; }

    std::optional<TimePoint> due() const {
        if (is_wanted_)
            return sent_ ? *sent_ + kInterval : TimePoint{};
        if (is_needed_)
            return sent_ ? *sent_ + kRepeat : TimePoint{};
        return std::nullopt;
    }
    // True if a request is due now; counts as sent.
    bool take(TimePoint now) {
        const auto at = due();
        if (!at || now < *at)
            return false;
        is_wanted_ = false;
        sent_ = now;
        return true;
    }

private:
    bool is_wanted_ = false;
    bool is_needed_ = false;
    std::optional<TimePoint> sent_;
};

}  // namespace live::engine::rtp
