#include "media/ingest/rendition_clock.hpp"

#include <algorithm>

namespace live::media {

namespace {

// Returns the time nearest to `near_ms` that wraps to the stamp.
std::int64_t unwrap(std::uint32_t stamp_ms, std::int64_t near_ms) {
    return near_ms + static_cast<std::int32_t>(stamp_ms - static_cast<std::uint32_t>(near_ms));
}

}  // namespace

MediaTime RenditionClock::map(MediaKind kind, TrackId track, std::uint32_t stamp_ms, MediaTime newest) {
    const std::int64_t newest_ms = to_ms(newest);
    const auto is_in_line = [newest_ms](std::int64_t time_ms) {
        return time_ms >= newest_ms - kBehindMax.count() && time_ms <= newest_ms + kAheadMax.count();
    };
    std::int64_t time_ms = unwrap(stamp_ms, newest_ms - shift_ms_) + shift_ms_;
    if (!is_in_line(time_ms)) {
        const std::int64_t own_ms = unwrap(stamp_ms, newest_ms);
        shift_ms_ = is_in_line(own_ms) ? 0 : newest_ms - own_ms;
        time_ms = own_ms + shift_ms_;
    }
    const auto [last, is_first] = lasts_.try_emplace({kind, track}, time_ms);
    last->second = std::max(last->second, time_ms);
    return std::chrono::milliseconds(last->second);
}

}  // namespace live::media
