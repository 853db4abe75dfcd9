// How long ago the leading client was where another one is now. It compares positions in bytes, so it is for clients that all
// began with the same byte. Dry: it is told the time and the leader's position, and its resolution is how often it is told.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.hpp"

namespace live::bench {

class PositionLag {
public:
    // A client further behind counts as this late.
    static constexpr std::chrono::seconds kHistory{10};

    // Neither goes back.
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
