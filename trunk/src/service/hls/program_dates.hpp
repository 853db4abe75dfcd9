// ProgramDates: the wall-clock date of each segment of one stream. The node with the publisher takes them from its clock; nodes
// that relay the stream take them from its marks, so that all write the same playlists. Dry.
#pragma once

#include <deque>
#include <optional>

#include "base/text/utc_text.hpp"
#include "base/time.hpp"

namespace live::service::hls {

class ProgramDates {
public:
    // Media time may run ahead of the clock, or behind it, by this much before dates are taken from the clock again.
    static constexpr MediaTime kDriftMax = 5s;
    // Changes kept, for segments that begin before the newest one.
    static constexpr std::size_t kChangesMax = 8;

    // Another publisher: the next segment takes its date from the clock.
    void restart() { is_fresh_ = true; }
    // A segment begins now at this media time, on the node with the publisher. Returns the date of media time zero.
    UtcTime begin_segment(MediaTime at, UtcTime now);
    // From the segment at this media time on, media time zero has this date.
    void set_zero(MediaTime at, UtcTime zero);
    // nullopt while nothing is known.
    std::optional<UtcTime> date_of(MediaTime start) const;

private:
    struct Change {
        MediaTime at{};
        UtcTime zero{};
    };
    std::deque<Change> changes_;  // by time
    bool is_fresh_ = true;
};

}  // namespace live::service::hls
