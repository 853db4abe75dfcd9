// KeyTimes: the times of the newest key frames that a child was given, to find that of an encoded frame: an encoder keeps the
// presentation times of its input, in milliseconds, and chooses decoding times of its own. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/time.hpp"

namespace live::service::ladder {

class KeyTimes {
public:
    static constexpr std::size_t kMax = 1024;

    struct Times {
        std::int64_t pts_ms = 0;  // as the child got it
        MediaTime dts{};          // on the source's timeline
        MediaTime pts{};
    };
    void add(const Times& times) {
        times_.push_back(times);
        if (times_.size() > kMax)
            times_.pop_front();
    }
    // An encoder may round a time by a millisecond.
    std::optional<Times> find(std::int64_t pts_ms) const {
        for (auto at = times_.rbegin(); at != times_.rend(); ++at)
            if (at->pts_ms >= pts_ms - 1 && at->pts_ms <= pts_ms + 1)
                return *at;
        return std::nullopt;
    }

private:
    std::deque<Times> times_;
};

}  // namespace live::service::ladder
