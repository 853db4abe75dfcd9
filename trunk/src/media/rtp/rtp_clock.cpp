#include "media/rtp/rtp_clock.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "media/rtp/rtp_log.hpp"

namespace live::media {

namespace {

MediaTime duration_of(std::int64_t ticks, std::uint32_t clock_rate) {
    constexpr std::int64_t kMicroseconds = 1'000'000;
    const std::int64_t rate = clock_rate;
    return MediaTime(ticks / rate * kMicroseconds + ticks % rate * kMicroseconds / rate);
}

}  // namespace

RtpClock::Place RtpClock::place(MediaKind kind, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                                std::optional<std::chrono::microseconds> reported) {
    CHECK(kind != MediaKind::data && clock_rate > 0);
    Track& track = tracks_[index_of(kind)];
    if (!track.seen)
        begin(kind, timestamp, arrived, reported);
    const MediaTime before = track.time;
    advance(track, timestamp, clock_rate);
    const MediaTime time = track.time;
    const MediaTime passed = time - before;
    if (reported)
        track.offset = *reported - time;
    if (kind == MediaKind::video)
        move_frame(passed);
    return {rtp_timestamp(track.base, clock_rate) + static_cast<std::uint32_t>(track.ticks),
            kind == MediaKind::video ? time + shift_ : time};
}

std::optional<RtpClock::Place> RtpClock::place_layer(std::uint32_t timestamp, std::uint32_t clock_rate) const {
    Track video = tracks_[index_of(MediaKind::video)];
    if (!video.seen)
        return std::nullopt;
    advance(video, timestamp, clock_rate);
    return Place{rtp_timestamp(video.base, clock_rate) + static_cast<std::uint32_t>(video.ticks), video.time + shift_};
}

void RtpClock::advance(Track& track, std::uint32_t timestamp, std::uint32_t clock_rate) {
    track.ticks += static_cast<std::int32_t>(timestamp - (track.first + static_cast<std::uint32_t>(track.ticks)));
    track.time = track.base + duration_of(track.ticks, clock_rate);
}

void RtpClock::note_arrival(Track& track, std::uint32_t timestamp, TimePoint arrived) {
    if (!started_)
        first_arrival_ = arrived;
    started_ = true;
    track.seen = true;
    track.first = timestamp;
    track.base = start_ + std::chrono::duration_cast<MediaTime>(arrived - first_arrival_);
}

MediaTime RtpClock::place_further(std::size_t number, std::uint32_t timestamp, std::uint32_t clock_rate, TimePoint arrived,
                                  std::optional<std::chrono::microseconds> reported) {
    CHECK(clock_rate > 0);
    if (number >= further_.size())
        further_.resize(number + 1);
    Track& track = further_[number];
    if (!track.seen)
        note_arrival(track, timestamp, arrived);
    advance(track, timestamp, clock_rate);
    const auto& first =
        tracks_[index_of(MediaKind::audio)].offset ? tracks_[index_of(MediaKind::audio)] : tracks_[index_of(MediaKind::video)];
    const MediaTime by_reports = reported && first.offset ? MediaTime(*reported - *first.offset) : track.time;
    return std::chrono::abs(by_reports - track.time) <= kShiftMax ? by_reports : track.time;
}

void RtpClock::begin(MediaKind kind, std::uint32_t timestamp, TimePoint arrived,
                     std::optional<std::chrono::microseconds> reported) {
    Track& track = tracks_[index_of(kind)];
    note_arrival(track, timestamp, arrived);
    const Track& other = tracks_[index_of(kind == MediaKind::audio ? MediaKind::video : MediaKind::audio)];
    if (begin_ == Begin::by_reports && reported && other.offset) {
        const MediaTime base = *reported - *other.offset;
        if (std::chrono::abs(base - track.base) <= kShiftMax)
            track.base = base;
    }
    track.time = track.base;
}

void RtpClock::move_frame(MediaTime passed) {
    const auto& audio = tracks_[index_of(MediaKind::audio)].offset;
    const auto& picture = tracks_[index_of(MediaKind::video)].offset;
    if (!audio || !picture || passed <= MediaTime::zero())
        return;
    const MediaTime wanted = *picture - *audio;
    if (std::chrono::abs(wanted) > kShiftMax)
        return;
    const MediaTime most = passed / kSlewDivisor;
    shift_ += std::clamp(wanted - shift_, -most, most);
}

}  // namespace live::media
