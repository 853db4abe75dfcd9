// LinkTicks: the ticks of a port's connections. A connection that can wait has its datagrams handled, its payloads delivered and
// its timers run on a tick, together with all others of that tick; and its socket is read no more often than its most urgent
// connection needs. Counts the connections of each tick. Dry.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "base/check.hpp"
#include "base/time.hpp"

namespace live::session::srt {

class LinkTicks {
public:
    // Index of a tick. 0: at once.
    using Index = std::size_t;
    // Multiples of the timer wheel's tick, each a divisor of the longest, so that they coincide.
    static constexpr std::array<Duration, 5> kTicks{Duration(), 4ms, 10ms, 20ms, 40ms};

    // The longest tick within the time that a connection can wait.
    static constexpr Index index_for(Duration patience) {
        Index index = kTicks.size() - 1;
        while (index > 0 && kTicks[index] > patience)
            --index;
        return index;
    }

    void add(Index index) { ++counts_[index]; }
    void remove(Index index) {
        CHECK(counts_[index] > 0);
        --counts_[index];
    }
    // The shortest tick of a connection; zero if one cannot wait, or without connections.
    Duration shortest() const {
        for (Index index = 0; index < kTicks.size(); ++index)
            if (counts_[index] > 0)
                return kTicks[index];
        return {};
    }

private:
    std::array<std::size_t, kTicks.size()> counts_{};
};

}  // namespace live::session::srt
