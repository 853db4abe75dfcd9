// Periods: the periods of one MPD. A period has one set of headers: players do not expect other codecs or sizes within it. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/time.hpp"
#include "service/segments/segmenter_events.hpp"

namespace live::service::dash {

// The segments with one set of headers.
struct Period {
    std::uint64_t number = 0;  // of its initialization sections
    std::vector<segments::Header> headers;
    std::optional<MediaTime> start;  // in whole milliseconds; none before its first segment
};

class Periods {
public:
    // Identifies the newest headers, also on a node that does not have them.
    struct Place {
        std::uint64_t inits = 0;  // sets of headers so far
        std::uint64_t hash = 0;   // of the newest headers; 0: unknown
        MediaTime start{};        // of their period
    };

    const Place& place() const { return place_; }
    // Continues where another node, or an earlier process, is.
    void resume(const Place& place) { place_ = place; }

    bool empty() const { return periods_.empty(); }
    const std::deque<Period>& all() const { return periods_; }
    const Period& current() const { return periods_.back(); }
    // The number of a period with headers of this hash: that of the newest headers if they are equal.
    std::uint64_t number_of(std::uint64_t hash) const;
    // Whether a period has this number, or a later one.
    bool reaches(std::uint64_t number) const;
    void begin(const std::vector<segments::Header>& headers, std::uint64_t number, std::uint64_t hash);
    // The first segment of the current period starts at `start`.
    void note_start(MediaTime start);
    void clear() { periods_.clear(); }
    // Drops all periods with lower numbers, but not the current one.
    void drop_before(std::uint64_t number);
    void drop_earlier();

private:
    std::deque<Period> periods_;  // the newest is current; of the others, those that have listed segments
    Place place_;
};

}  // namespace live::service::dash
