// RateWindow: turns two monotonic counters, read every few seconds, into their rates per second over the last half minute.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.hpp"

namespace live::service::stats {

class RateWindow {
public:
    // Number of readings; at intervals of 3 s, 30 s.
    static constexpr std::size_t kReadings = 10;

    struct Gain {
        double first = 0;   // per second
        double second = 0;  // per second
    };

    // Adds a reading. The first is the baseline. A counter that went back counts as unchanged; a gain above 4 G between two
    // readings counts as 4 G.
    void add(TimePoint now, std::uint64_t first, std::uint64_t second);
    // Returns zeros before the second reading.
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

// Bytes per second as the whole kilobits per second that the API shows.
std::int64_t kbps(double bytes_per_second);

}  // namespace live::service::stats
