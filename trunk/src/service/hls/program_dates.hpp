// ProgramDates: the wall-clock date of each segment of one stream. The node that has the publisher takes the dates from its
// clock, and nodes that relay the stream from its sync messages, so that all write the same playlists. Dry.
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

    // Another publisher starts: the next segment gets its date from the clock.
    void restart() { is_fresh_ = true; }
    // A segment begins now, at media time `at`, on the node that has the publisher. Returns the date of media time zero.
    UtcTime begin_segment(MediaTime at, UtcTime now);
    // Sets the date of media time zero for the segments from `at` on.
    void set_zero(MediaTime at, UtcTime zero);
    // A segment at `at` begins another timeline: the date in force there counts for earlier times too.
    void begin_timeline(MediaTime at);
    // nullopt before the first segment and the first zero.
    std::optional<UtcTime> date_of(MediaTime start) const;
    // The same on a node that may not have a date: then media time `newest` is at `now`.
    std::optional<UtcTime> date_of(MediaTime start, MediaTime newest, UtcTime now) {
        if (changes_.empty())
            begin_segment(newest, now);
        return date_of(start);
    }

private:
    struct Change {
        MediaTime at{};
        UtcTime zero{};
    };
    std::deque<Change> changes_;  // by time
    bool is_fresh_ = true;
};

}  // namespace live::service::hls
