#include "media/timeline.hpp"

#include <algorithm>

namespace live::media {

void Timeline::start_publisher() {
    for (Track& track : tracks_)
        track.seen = false;
    started_ = false;
}

// The stamp is kept, or moved as those before, when it is then at most somewhat newer than the newest packet.
void Timeline::start_relay(std::uint32_t stamp_ms) {
    const std::int64_t newest_ms = std::chrono::duration_cast<std::chrono::milliseconds>(newest_).count();
    const std::int64_t raw_ms = stamp_ms;
    const auto continues = [&](std::int64_t time_ms) {
        return time_ms >= newest_ms && time_ms <= newest_ms + kJumpAhead.count();
    };
    if (any_packet_ && !continues(raw_ms + shift_ms_))
        shift_ms_ = continues(raw_ms) ? 0 : newest_ms + kRelayJoin.count() - raw_ms;
    // What comes before the first packet has its time: readers would leave it out as too old.
    if (!any_packet_)
        newest_ = std::chrono::milliseconds(raw_ms);
    started_ = true;
}

bool Timeline::plausible(const Track& track, Kind kind, std::int64_t time_ms) const {
    const std::int64_t newest_ms = std::chrono::duration_cast<std::chrono::milliseconds>(newest_).count();
    if (any_packet_ && time_ms > newest_ms + kJumpAhead.count())
        return false;
    // Many encoders stamp data carelessly (for example always 0): only audio and video may start a new time base.
    return kind == Kind::data || !track.seen || time_ms >= track.last_ms - kJumpBack.count();
}

Timeline::Stamp Timeline::map(Kind kind, std::uint32_t stamp_ms) {
    Track& track = tracks_[index_of(kind)];
    const std::int64_t newest_ms = std::chrono::duration_cast<std::chrono::milliseconds>(newest_).count();
    // Only differences of wrapping stamps are meaningful. A kind's first stamp is placed near the other kinds' latest one.
    std::int64_t near_raw = track.raw_ms;
    if (!track.seen)
        near_raw = started_ && any_packet_ ? newest_ms - shift_ms_ : static_cast<std::int64_t>(stamp_ms);
    track.raw_ms = near_raw + static_cast<std::int32_t>(stamp_ms - static_cast<std::uint32_t>(near_raw));

    bool jumped = false;
    if (!started_) {
        started_ = true;
        shift_ms_ = any_packet_ ? newest_ms + kJoin.count() - track.raw_ms : -track.raw_ms;
    }
    if (!track.seen)
        track.shift_ms = shift_ms_;
    if (!plausible(track, kind, track.raw_ms + track.shift_ms) && kind != Kind::data) {
        track.shift_ms = shift_ms_;  // the other kind may have started the new time base already
        if (!plausible(track, kind, track.raw_ms + track.shift_ms)) {
            shift_ms_ = newest_ms + kJoin.count() - track.raw_ms;
            track.shift_ms = shift_ms_;
            ++jumps_;
            jumped = true;
        }
    }
    std::int64_t time_ms = track.raw_ms + track.shift_ms;
    track.own_ms = time_ms;
    if (kind == Kind::data && (time_ms > newest_ms + kJumpAhead.count() || time_ms < track.last_ms))
        time_ms = std::max(newest_ms, track.last_ms);
    else if (track.ever)
        time_ms = std::max(time_ms, track.last_ms);
    track.last_ms = time_ms;
    track.seen = true;
    track.ever = true;
    const MediaTime dts = std::chrono::milliseconds(time_ms);
    if (!any_packet_ || dts > newest_)
        newest_ = dts;
    any_packet_ = true;
    return {dts, jumped};
}

MediaTime Timeline::follow(Kind kind, TrackId id, std::uint32_t stamp_ms) {
    Track& track = tracks_[index_of(kind)];
    if (!track.seen) {
        const Track before = track;
        map(kind, stamp_ms);
        // The first track may begin earlier.
        track.last_ms = before.last_ms;
        track.ever = before.ever;
    }
    const std::int64_t time_ms =
        track.raw_ms + static_cast<std::int32_t>(stamp_ms - static_cast<std::uint32_t>(track.raw_ms)) + track.shift_ms;
    const std::int64_t near_ms =
        std::clamp(time_ms, track.own_ms - kTrackDistance.count(), track.own_ms + kTrackDistance.count());
    std::int64_t& last_ms = followers_ms_.try_emplace({kind, id}, near_ms).first->second;
    last_ms = std::max(last_ms, near_ms);
    return std::chrono::milliseconds(last_ms);
}

}  // namespace live::media
