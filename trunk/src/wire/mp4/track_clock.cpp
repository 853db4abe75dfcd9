#include "wire/mp4/track_clock.hpp"

#include <algorithm>

namespace live::wire::mp4 {

namespace {

constexpr std::int64_t kSecond = std::chrono::microseconds(1s).count();

// Computed in two steps, so that years of microseconds at any timescale do not overflow.
std::int64_t scaled(std::int64_t micros, std::int64_t timescale) {
    const std::int64_t whole = micros / kSecond;
    const std::int64_t part = micros % kSecond;
    return whole * timescale + (part * timescale + kSecond / 2) / kSecond;
}

}  // namespace

std::uint64_t TrackClock::ticks_of(MediaTime time) const {
    return static_cast<std::uint64_t>(scaled(std::max<std::int64_t>(time.count(), 0), timescale_));
}

std::int64_t TrackClock::distance(MediaTime from, MediaTime to) const {
    const auto ticks = [this](MediaTime time) { return static_cast<std::int64_t>(ticks_of(time)); };
    return to >= from ? ticks(to - from) : -ticks(from - to);
}

std::uint64_t TrackClock::peek(MediaTime dts) const {
    const std::uint64_t said = ticks_of(dts);
    if (!is_running_)
        return said;
    if (sample_ticks_ > 0) {
        const std::uint64_t counted = last_ + sample_ticks_;
        const std::uint64_t off = counted > said ? counted - said : said - counted;
        if (off <= ticks_of(kDriftMax))
            return counted;
    }
    return std::max(said, last_ + 1);
}

std::uint64_t TrackClock::advance(MediaTime dts) {
    last_ = peek(dts);
    is_running_ = true;
    return last_;
}

}  // namespace live::wire::mp4
