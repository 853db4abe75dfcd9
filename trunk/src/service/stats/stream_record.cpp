#include "service/stats/stream_record.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace live::service::stats {

namespace {

using Seconds = std::chrono::duration<double>;

float rate(std::uint64_t before, std::uint64_t after, double seconds) {
    return static_cast<float>(static_cast<double>(after - std::min(before, after)) / seconds);
}

// Ends at a boundary of UTF-8.
std::string cut(std::string_view text, std::size_t most) {
    if (text.size() <= most)
        return std::string(text);
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U)
        --most;
    return std::string(text.substr(0, most));
}

}  // namespace

void StreamRecord::begin(TimePoint now) {
    last_at_ = now;
    last_ = {};
    restart_times();
}

void StreamRecord::add_delay(MediaTime delay) {
    delay_sum_ += delay;
    ++delays_;
}

void StreamRecord::add_times(MediaTime audio, MediaTime video) { offsets_[offsets_seen_++ % kOffsets] = video - audio; }

std::optional<MediaTime> StreamRecord::audio_behind() const {
    if (offsets_seen_ < kOffsets)
        return std::nullopt;
    const auto [least, most] = std::ranges::minmax(offsets_);
    if (least > MediaTime::zero())
        return least;
    return most < MediaTime::zero() ? most : MediaTime::zero();
}

void StreamRecord::sample(TimePoint now, const Totals& totals, std::optional<MediaTime> key_frames, const ViewerCounts& viewers) {
    const double seconds = Seconds(now - last_at_).count();
    if (seconds < 1 || !history_.is_due(now))
        return;
    constexpr float kKbit = 8.0F / 1000;
    StreamPoint point;
    point.received_kbps = rate(last_.received_bytes, totals.received_bytes, seconds) * kKbit;
    point.sent_kbps = rate(last_.sent_bytes, totals.sent_bytes, seconds) * kKbit;
    point.frames_per_second = rate(last_.frames, totals.frames, seconds);
    if (key_frames)
        point.key_frame_seconds = static_cast<float>(Seconds(*key_frames).count());
    if (delays_ > 0)
        point.delay_seconds = static_cast<float>(Seconds(delay_sum_).count() / delays_);
    constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
    for (std::size_t kind = 0; kind < kPlayerKindsMax; ++kind)
        point.viewers[kind] = static_cast<std::uint16_t>(std::min(viewers[kind], kMost));
    history_.add(slot_of(now), point);
    last_at_ = now;
    last_ = totals;
    delay_sum_ = {};
    delays_ = 0;
}

void StreamRecord::add_event(TimePoint now, std::string_view name, std::string_view client, std::string_view text) {
    if (events_.size() == kEventsMax)
        events_.pop_front();
    events_.push_back({now, name, cut(client, StreamEvent::kTextMax), cut(text, StreamEvent::kTextMax)});
}

double StreamRecord::best_frame_rate() const {
    constexpr std::size_t kPoints = std::chrono::minutes(5) / kHistoryInterval;
    std::array<float, kPoints> newest{};
    std::size_t count = 0;
    history_.for_each({}, [&](Slot, const StreamPoint& point) { newest[count++ % kPoints] = point.frames_per_second; });
    return static_cast<double>(std::ranges::max(newest));
}

std::size_t StreamRecord::bytes() const {
    std::size_t bytes = sizeof *this + history_.bytes();
    for (const StreamEvent& event : events_)
        bytes += sizeof event + event.client.capacity() + event.text.capacity();
    return bytes;
}

}  // namespace live::service::stats
