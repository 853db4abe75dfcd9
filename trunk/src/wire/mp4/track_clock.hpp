// TrackClock: media time as ticks of one track, strictly growing. FLV says milliseconds, which no audio frame is a whole number
// of; where the codec fixes how long a sample lasts, samples are counted instead, as long as that stays near what the stream
// says. Else playback would have a gap or an overlap of some samples behind every frame.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace live::wire::mp4 {

class TrackClock {
public:
    // How far counting may be from the stream's own times before they win.
    static constexpr MediaTime kDriftMax = 20ms;

    TrackClock(std::uint32_t timescale, std::uint32_t sample_ticks) : timescale_(timescale), sample_ticks_(sample_ticks) {}

    // The tick that advance() would give.
    std::uint64_t peek(MediaTime dts) const;
    std::uint64_t advance(MediaTime dts);

    // Rounded to the nearest; negative times are zero.
    std::uint64_t ticks_of(MediaTime time) const;
    // A difference of times, which may be negative.
    std::int64_t distance(MediaTime from, MediaTime to) const;

private:
    std::uint32_t timescale_;
    std::uint32_t sample_ticks_;
    std::uint64_t last_ = 0;
    bool is_running_ = false;
};

}  // namespace live::wire::mp4
