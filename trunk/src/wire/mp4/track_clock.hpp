// TrackClock: converts media time to strictly increasing ticks of one track. FLV timestamps are milliseconds, which no audio
// frame is a multiple of; where the codec fixes the frame duration, samples are counted instead, while the count stays close to
// the stream's timestamps. Otherwise playback would have a gap or an overlap of some samples after every frame.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.hpp"

namespace live::wire::mp4 {

class TrackClock {
public:
    // Maximum deviation of the count from the stream's timestamps before it is reset to them.
    static constexpr MediaTime kDriftMax = 20ms;

    TrackClock(std::uint32_t timescale, std::uint32_t sample_ticks) : timescale_(timescale), sample_ticks_(sample_ticks) {}

    // The tick that advance() would return.
    std::uint64_t peek(MediaTime dts) const;
    std::uint64_t advance(MediaTime dts);

    // The newest tick; none before the first.
    std::optional<std::uint64_t> last() const { return is_running_ ? std::optional(last_) : std::nullopt; }
    void restore(std::optional<std::uint64_t> last) {
        last_ = last.value_or(0);
        is_running_ = last.has_value();
    }

    // Rounded to nearest; negative times give zero.
    std::uint64_t ticks_of(MediaTime time) const;
    // A time difference in ticks; may be negative.
    std::int64_t distance(MediaTime from, MediaTime to) const;

private:
    std::uint32_t timescale_;
    std::uint32_t sample_ticks_;
    std::uint64_t last_ = 0;
    bool is_running_ = false;
};

}  // namespace live::wire::mp4
