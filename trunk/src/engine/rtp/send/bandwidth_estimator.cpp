#include "engine/rtp/send/bandwidth_estimator.hpp"

#include <algorithm>
#include <cmath>

namespace live::engine::rtp {

namespace {

using std::chrono::microseconds;

constexpr microseconds kRateWindow = 500ms;
constexpr microseconds kBaseDelayWindow = 10s;
constexpr microseconds kStepMax = 500ms;  // a longer gap between reports does not raise the rate further
constexpr double kDecrease = 0.85;
constexpr double kDoublingsPerSecond = 2;    // before a decrease, and long after it
constexpr double kIncreasePerSecond = 1.15;  // soon after it
constexpr double kKnown = 0.9;               // of the rate received while there was a queue
constexpr double kBeyondReceived = 1.5;      // a sender that sends little learns little about the link
constexpr double kLossPackets = 100;         // loss is averaged over about this many packets
constexpr microseconds kDraining = 2ms;      // a queue that shrinks by more than this between reports is draining

// The time between two wrapping timestamps of which only the low bits are known; negative if `to` is earlier.
microseconds between(std::uint32_t from_us, std::uint32_t to_us) {
    return microseconds(static_cast<std::int32_t>(to_us - from_us));
}

double seconds(microseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

void BandwidthEstimator::sent(TimePoint now, std::uint16_t sequence, std::size_t bytes) {
    if (sent_.size() == kSentMax)
        sent_.pop_front();
    sent_.push_back({now, static_cast<std::uint32_t>(unwrapper_.widen(sequence)), static_cast<std::uint32_t>(bytes)});
}

// Reports come in order, so the packet is near the front; packets before it were reported lost, or their report was lost.
std::optional<BandwidthEstimator::Sent> BandwidthEstimator::take(std::uint32_t sequence) {
    const auto is_before = [](std::uint32_t one, std::uint32_t other) { return static_cast<std::int32_t>(one - other) < 0; };
    if (sent_.empty() || is_before(sent_.back().sequence, sequence))
        return std::nullopt;
    while (!sent_.empty() && is_before(sent_.front().sequence, sequence))
        sent_.pop_front();
    if (sent_.empty() || sent_.front().sequence != sequence)
        return std::nullopt;
    const Sent found = sent_.front();
    sent_.pop_front();
    return found;
}

BandwidthEstimator::Report BandwidthEstimator::match(TimePoint now, const wire::rtcp::ArrivalReport& arrivals) {
    Report report;
    microseconds at = wire::rtcp::kReferenceTick * arrivals.reference_time;
    std::uint64_t sequence = unwrapper_.peek(arrivals.base_sequence);
    wire::rtcp::PacketStatuses statuses = arrivals.statuses;
    std::optional<TimePoint> newest;
    for (wire::rtcp::PacketStatus packet; statuses.next(packet);) {
        const auto found = take(static_cast<std::uint32_t>(sequence++));
        if (packet.ticks)
            at += wire::rtcp::kDeltaTick * *packet.ticks;
        if (!found)
            continue;
        if (!packet.received) {
            ++report.lost;
            continue;
        }
        ++report.arrived;
        if (!packet.ticks)
            continue;
        report.delay = std::min(report.delay, at - std::chrono::duration_cast<microseconds>(found->at.time_since_epoch()));
        newest = found->at;
        arrived_bytes_ += found->bytes;
        arrivals_.push_back({static_cast<std::uint32_t>(at.count()), found->bytes});
    }
    if (newest)
        round_trip_ = std::chrono::duration_cast<microseconds>(now - *newest);
    const auto is_outside = [this] {
        const microseconds span = between(arrivals_.front().at_us, arrivals_.back().at_us);
        return span > kRateWindow || span < microseconds{0};
    };
    while (!arrivals_.empty() && is_outside()) {
        arrived_bytes_ -= arrivals_.front().bytes;
        arrivals_.pop_front();
    }
    return report;
}

// The base delay within kBaseDelayWindow. Older candidates that are not smaller are dropped.
microseconds BandwidthEstimator::base_delay(TimePoint now, microseconds delay) {
    while (!base_delays_.empty() && base_delays_.back().delay >= delay)
        base_delays_.pop_back();
    base_delays_.push_back({now, delay});
    while (now - base_delays_.front().at > kBaseDelayWindow)
        base_delays_.pop_front();
    return base_delays_.front().delay;
}

double BandwidthEstimator::received_rate() const {
    if (arrivals_.size() < 2)
        return 0;
    // Only n-1 of n packets lie between the first and the last arrival.
    const double carried = static_cast<double>(arrived_bytes_ - arrivals_.front().bytes) * 8;
    const microseconds span = between(arrivals_.front().at_us, arrivals_.back().at_us);
    return span < 20ms ? 0 : carried / seconds(span);
}

void BandwidthEstimator::reported(TimePoint now, const wire::rtcp::ArrivalReport& arrivals) {
    const Report report = match(now, arrivals);
    if (report.arrived + report.lost == 0)
        return;
    const auto outcomes = static_cast<double>(report.arrived + report.lost);
    loss_ += (static_cast<double>(report.lost) / outcomes - loss_) * std::min(1.0, outcomes / kLossPackets);
    const microseconds before = queue_;
    if (report.delay != microseconds::max())
        queue_ = report.delay - base_delay(now, report.delay);
    is_draining_ = queue_ + kDraining < before;
    adapt(now);
}

void BandwidthEstimator::adapt(TimePoint now) {
    const microseconds step =
        adapted_ ? std::min(std::chrono::duration_cast<microseconds>(now - *adapted_), kStepMax) : microseconds{0};
    adapted_ = now;
    const double received = received_rate();
    const bool is_queueing = queue_ > options_.queue_high && !is_draining_;
    if (is_queueing || (loss_ > options_.loss_high && !is_draining_)) {
        // At most once per round trip plus a margin: packets in flight were still sent at the old rate.
        if (decreased_ && now - *decreased_ < round_trip_ + 100ms)
            return;
        if (is_queueing && received > 0)
            carried_ = received;
        if (is_queueing)
            rate_ = (received > 0 ? std::min(rate_, received) : rate_) * kDecrease;
        else
            // The rate received in spite of the loss is a lower bound.
            rate_ = std::max(rate_ * (1 - loss_ / 2), std::min(rate_, received * kDecrease));
        loss_ = 0;
        decreased_ = now;
        ++limits_met_;
    } else if (queue_ < options_.queue_low) {
        // Up to the rate the link carried while it had a queue, no probing is needed.
        const double known = carried_ * kKnown;
        const bool is_free = !decreased_ || now - *decreased_ > kLimitMemory;
        const bool is_quick = is_free || rate_ < known;
        const double factor =
            is_quick ? std::exp2(kDoublingsPerSecond * seconds(step)) : std::pow(kIncreasePerSecond, seconds(step));
        const double risen = !is_free && is_quick ? std::min(rate_ * factor, known) : rate_ * factor;
        // If the sender has little to send, the rate does not change.
        rate_ = std::max(rate_, received > 0 ? std::min(risen, received * kBeyondReceived) : rate_);
    }
    rate_ = std::clamp(rate_, static_cast<double>(options_.min), static_cast<double>(options_.max));
}

}  // namespace live::engine::rtp
