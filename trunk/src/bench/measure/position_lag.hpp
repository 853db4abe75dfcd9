// PositionLag: measures how long ago the leading client was at the current position of another client. Positions are in bytes,
// so all clients must have begun with the same byte. Dry: note() receives the time and the leader's position, and its interval
// is the resolution.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.hpp"

namespace live::bench {

class PositionLag {
public:
    // The largest lag that is reported.
    static constexpr std::chrono::seconds kHistory{10};

    // Both arguments must not decrease.
    void note(TimePoint now, std::uint64_t leader);
    // Zero for the leader itself.
    Duration behind(TimePoint now, std::uint64_t position) const;

private:
    struct Entry {
        TimePoint when;
        std::uint64_t position;
    };
    std::deque<Entry> history_;
};

}  // namespace live::bench
