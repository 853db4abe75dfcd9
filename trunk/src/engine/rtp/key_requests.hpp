// When a publisher is asked for a key frame: at once, but never more often than it can be of use, and again until it comes.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/time.hpp"

namespace live::engine::rtp {

class KeyRequests {
public:
    // Between two requests, and until one that was not answered is made again.
    static constexpr std::chrono::milliseconds kInterval = 500ms;
    static constexpr std::chrono::milliseconds kRepeat = 1s;

    // Somebody wants one.
    void want() { is_wanted_ = true; }
    // The stream is of no use without one, so asking goes on until it has come.
    void need() {
        is_wanted_ = true;
        is_needed_ = true;
    }
    void came() { is_needed_ = false; }
    bool is_needed() const { return is_needed_; }

    std::optional<TimePoint> due() const {
        if (is_wanted_)
            return sent_ ? *sent_ + kInterval : TimePoint{};
        if (is_needed_)
            return sent_ ? *sent_ + kRepeat : TimePoint{};
        return std::nullopt;
    }
    // True when a request is to be sent now; counts as sent.
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
