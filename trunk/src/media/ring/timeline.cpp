#include "media/ring/timeline.hpp"

#include <algorithm>
#include <utility>

namespace live::media {

namespace {

// As kTrackDistance, if another node sends the stream: renditions are late by the time that their encoder needs.
constexpr std::chrono::milliseconds kRelayedTrackDistance{20'000};

// Only differences of wrapping stamps are meaningful.
std::int64_t unwrap(std::uint32_t stamp_ms, std::int64_t near_ms) {
    return near_ms + static_cast<std::int32_t>(stamp_ms - static_cast<std::uint32_t>(near_ms));
}

}  // namespace

void Timeline::start_publisher() {
    for (Track& track : tracks_) {
        track.seen = false;
        track.doubt.reset();
    }
    started_ = false;
    is_relay_ = false;
    previous_ms_.reset();
    jump_ahead_ms_ = kJumpAhead.count();
    step_ms_ = 0;
    frames_ = 0;
    start_ms_ = newest_ms_;
}

void Timeline::allow_gap(std::chrono::milliseconds timeout) { jump_ahead_ms_ = std::max(kJumpAhead, timeout).count(); }

// The stamp is kept, or moved as those before, when it is then at most somewhat newer than the newest packet.
void Timeline::start_relay(std::uint32_t stamp_ms) {
    const std::int64_t raw_ms = stamp_ms;
    const auto continues = [&](std::int64_t time_ms) {
        return time_ms >= newest_ms_ && time_ms <= newest_ms_ + kJumpAhead.count();
    };
    if (any_packet_ && !continues(raw_ms + shift_ms_))
        shift_ms_ = continues(raw_ms) ? 0 : newest_ms_ + kRelayJoin.count() - raw_ms;
    // Headers and data before the first packet get its time; readers would leave them out as too old otherwise.
    if (!any_packet_)
        newest_ms_ = raw_ms;
    start_ms_ = newest_ms_;
    started_ = true;
    is_relay_ = true;
}

// Another node has repaired the stamps already: its steps ahead are real.
std::int64_t Timeline::ahead_max_ms(TimePoint arrived) const {
    const std::int64_t usual_ms = std::max(kLeap.count(), 2 * step_ms_);
    const bool is_rate_known = frames_ >= kRateFrames && !is_relay_;
    const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(std::max(arrived - arrived_, Duration::zero()));
    return (is_rate_known ? usual_ms : std::max(usual_ms, jump_ahead_ms_)) + passed.count();
}

bool Timeline::is_in_line(const Track& track, std::int64_t time_ms, TimePoint arrived) const {
    if (!any_packet_)
        return true;
    if (!track.seen)
        return time_ms >= newest_ms_ - kJumpAhead.count() && time_ms <= newest_ms_ + jump_ahead_ms_;
    const std::int64_t ahead_ms = time_ms - newest_ms_;
    return time_ms >= track.last_ms - kJumpBack.count() && (ahead_ms <= kLeap.count() || ahead_ms <= ahead_max_ms(arrived));
}

bool Timeline::confirms(const std::optional<Doubt>& doubt, std::int64_t raw_ms, TimePoint arrived) const {
    return doubt && raw_ms >= doubt->raw_ms - kJumpBack.count() && raw_ms <= doubt->raw_ms + ahead_max_ms(arrived);
}

// Returns the shift of the time base on which the stamp is in line, if there is one.
std::optional<std::int64_t> Timeline::find_shift(const Track& track, std::int64_t raw_ms, TimePoint arrived, Event& event) {
    // A kind may still be on the base that the other has left.
    for (const std::int64_t shift_ms : {track.shift_ms, shift_ms_}) {
        if (!is_in_line(track, raw_ms + shift_ms, arrived))
            continue;
        event = track.doubt && !confirms(track.doubt, raw_ms, arrived) ? Event::stray : Event::none;
        return shift_ms;
    }
    if (previous_ms_ && is_in_line(track, raw_ms + *previous_ms_, arrived)) {
        event = Event::stray;
        std::swap(*previous_ms_, shift_ms_);
        return shift_ms_;
    }
    if (!confirms(track.doubt, raw_ms, arrived))
        return std::nullopt;
    if (track.doubt->shift_ms != track.shift_ms) {
        event = Event::jump;
        ++jumps_;
        previous_ms_ = std::exchange(shift_ms_, track.doubt->shift_ms);
    }
    return track.doubt->shift_ms;
}

// The frame may be a stray one or the first of a new time base: the next one of its kind shows it. A step ahead within the
// publisher's timeout would be on the same base; and a new base would be the one that the other kind may be about to begin.
std::int64_t Timeline::place_stray(Track& track, std::int64_t raw_ms, TimePoint arrived) {
    const std::int64_t ahead_ms = raw_ms + track.shift_ms - newest_ms_;
    const bool is_gap = ahead_ms > 0 && ahead_ms <= jump_ahead_ms_;
    Doubt doubt{raw_ms, is_gap ? track.shift_ms : newest_ms_ + kJoin.count() - raw_ms};
    for (const Track& other : tracks_)
        if (&other != &track && confirms(other.doubt, raw_ms, arrived))
            doubt.shift_ms = other.doubt->shift_ms;
    track.doubt = doubt;
    return track.seen ? track.last_ms + kJoin.count() : newest_ms_;
}

// Nearly all frames follow the previous one of their kind on the same time base.
Timeline::Stamp Timeline::map(MediaKind kind, std::uint32_t stamp_ms, TimePoint arrived) {
    Track& track = tracks_[index_of(kind)];
    if (kind == MediaKind::data || !track.seen || track.doubt)
        return map_unusual(kind, stamp_ms, arrived);
    const std::int64_t raw_ms = unwrap(stamp_ms, track.raw_ms);
    const std::int64_t time_ms = raw_ms + track.shift_ms;
    if (time_ms < track.last_ms || time_ms > newest_ms_ + kLeap.count())
        return map_unusual(kind, stamp_ms, arrived);
    accept(track, raw_ms, time_ms, arrived);
    track.last_ms = time_ms;
    newest_ms_ = std::max(newest_ms_, time_ms);
    return {std::chrono::milliseconds(time_ms), Event::none};
}

// Notes a stamp that is in line.
void Timeline::accept(Track& track, std::int64_t raw_ms, std::int64_t time_ms, TimePoint arrived) {
    track.raw_ms = raw_ms;
    track.own_ms = time_ms;
    // Slowly forgets a large step.
    if (any_packet_)
        step_ms_ = std::max(time_ms - newest_ms_, step_ms_ - step_ms_ / 64);
    frames_ = std::min(frames_ + 1, kRateFrames);
    arrived_ = arrived;
}

Timeline::Stamp Timeline::map_unusual(MediaKind kind, std::uint32_t stamp_ms, TimePoint arrived) {
    if (kind == MediaKind::data)
        return {map_data(stamp_ms), Event::none};
    Track& track = tracks_[index_of(kind)];
    // A kind's first stamp is placed near the other kinds' latest one.
    std::int64_t near_ms = track.raw_ms;
    if (!track.seen)
        near_ms = started_ ? newest_ms_ - shift_ms_ : static_cast<std::int64_t>(stamp_ms);
    const std::int64_t raw_ms = unwrap(stamp_ms, near_ms);
    if (!started_) {
        started_ = true;
        shift_ms_ = any_packet_ ? newest_ms_ + kJoin.count() - raw_ms : -raw_ms;
        start_ms_ = raw_ms + shift_ms_;
    }
    if (!track.seen)
        track.shift_ms = shift_ms_;

    Stamp stamp;
    std::int64_t time_ms = 0;
    if (const auto shift_ms = find_shift(track, raw_ms, arrived, stamp.event)) {
        track.shift_ms = *shift_ms;
        time_ms = raw_ms + *shift_ms;
        track.doubt.reset();
        track.seen = true;
        accept(track, raw_ms, time_ms, arrived);
    } else {
        time_ms = place_stray(track, raw_ms, arrived);
        stamp.event = Event::doubt;
    }
    if (track.ever)
        time_ms = std::max(time_ms, track.last_ms);
    track.last_ms = time_ms;
    track.ever = true;
    stamp.dts = std::chrono::milliseconds(time_ms);
    if (!any_packet_ || time_ms > newest_ms_)
        newest_ms_ = time_ms;
    any_packet_ = true;
    return stamp;
}

// Data follows the clock of audio and video.
MediaTime Timeline::map_data(std::uint32_t stamp_ms) {
    Track& track = tracks_[index_of(MediaKind::data)];
    std::int64_t time_ms = started_ ? unwrap(stamp_ms, newest_ms_ - shift_ms_) + shift_ms_ : newest_ms_;
    if (time_ms > newest_ms_ + kJumpAhead.count() || time_ms < (track.ever ? track.last_ms : start_ms_))
        time_ms = newest_ms_;
    track.last_ms = track.ever ? std::max(time_ms, track.last_ms) : time_ms;
    track.ever = true;
    return std::chrono::milliseconds(track.last_ms);
}

MediaTime Timeline::header_time(MediaKind kind) const {
    const Track& track = tracks_[index_of(kind)];
    if (track.seen || !started_)
        return track.seen ? std::chrono::milliseconds(track.last_ms) : newest();
    return std::chrono::milliseconds(track.ever ? std::max(track.last_ms, start_ms_) : start_ms_);
}

MediaTime Timeline::follow(MediaKind kind, TrackId id, std::uint32_t stamp_ms, TimePoint arrived) {
    Track& track = tracks_[index_of(kind)];
    if (!track.seen) {
        const Track before = track;
        map(kind, stamp_ms, arrived);
        // The first track may begin earlier.
        track.last_ms = before.last_ms;
        track.ever = before.ever;
    }
    const std::int64_t time_ms = unwrap(stamp_ms, track.raw_ms) + track.shift_ms;
    const std::int64_t distance_ms = (is_relay_ ? kRelayedTrackDistance : kTrackDistance).count();
    const std::int64_t near_ms = std::clamp(time_ms, track.own_ms - distance_ms, track.own_ms + distance_ms);
    const auto [follower, is_new] = followers_.try_emplace({kind, id}, Follower{near_ms, false});
    // A single stamp that is too far moves nothing.
    const bool was_far = std::exchange(follower->second.is_far, near_ms != time_ms);
    if (near_ms == time_ms || was_far)
        follower->second.last_ms = std::max(follower->second.last_ms, near_ms);
    return std::chrono::milliseconds(follower->second.last_ms);
}

}  // namespace live::media
