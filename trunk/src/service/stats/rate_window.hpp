// RateWindow: from two counters that only grow, read every few seconds, to what they gained a second over the last half minute.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace live::service::stats {

class RateWindow {
public:
    // Readings that count; at 3 s from one to the next, 30 s.
    static constexpr std::size_t kReadings = 10;

    struct Gain {
        double first = 0;   // a second
        double second = 0;  // a second
    };

    // A reading. The first one is only where counting begins. A counter that went back counts as not having moved, and a gain
    // above 4 G between two readings as that.
    void add(TimePoint now, std::uint64_t first, std::uint64_t second);
    // Nothing before two readings.
    Gain per_second() const;

private:
    struct Step {
        std::uint32_t milliseconds = 0;
        std::uint32_t first = 0;
        std::uint32_t second = 0;
    };

    std::array<Step, kReadings> steps_;
    std::size_t next_ = 0;
    bool begun_ = false;
    TimePoint last_{};
    std::uint64_t first_ = 0;
    std::uint64_t second_ = 0;
};

// Bytes a second as the whole kilobits a second that the API shows.
std::int64_t kbps(double bytes_per_second);

}  // namespace live::service::stats
