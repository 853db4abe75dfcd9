// ReadTick: when the socket of a publisher is read that nobody waits for. All publishers share the ticks, so that one turn of the
// loop serves many. A publisher that fills the kernel's buffer between two ticks has shorter ones. Dry.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.hpp"

namespace live::session {

class ReadTick {
public:
    static constexpr std::chrono::milliseconds kQuickest{5};
    // Less than this in a tick fits any buffer.
    static constexpr std::size_t kLittle = 16 * 1024;

    // Returns the next tick. `pause`: the interval of slow publishers. `received`: bytes since the previous tick. `room`: a
    // function that returns how many bytes the kernel holds; called for fast publishers only. The interval is halved when three
    // quarters of that have arrived, and doubled when less than an eighth has, at most up to `pause`.
    template <class Room>
    TimePoint next(TimePoint now, std::chrono::milliseconds pause, std::size_t received, Room room) {
        if (received >= kLittle || halvings_ > 0) {
            const std::size_t much = room() / 4 * 3;
            if (received >= much && pause / (2 << halvings_) >= kQuickest)
                ++halvings_;
            else if (received < much / 4 && halvings_ > 0)
                --halvings_;
        }
        return after(now, pause / (1 << halvings_));
    }
    // The first multiple of `interval` after `now`.
    static TimePoint after(TimePoint now, Duration interval) {
        const auto since_start = now.time_since_epoch();
        return TimePoint(since_start - since_start % interval + interval);
    }

private:
    int halvings_ = 0;
};

}  // namespace live::session
