#include "engine/rtp/receive/reception.hpp"

#include <algorithm>
#include <cmath>

namespace live::engine::rtp {

namespace {

constexpr std::uint64_t kCycle = 1 << 16;
constexpr std::int64_t kLostMax = (1 << 23) - 1;  // 24-bit signed

}  // namespace

std::optional<Reception::Number> Reception::received(TimePoint now, std::uint16_t sequence, std::uint32_t timestamp) {
    Number number{.sequence = widen(sequence)};
    if (first_ && (number.sequence > highest_ + kAheadMax || number.sequence + kBehindMax < highest_)) {
        if (bad_next_ != sequence) {
            bad_next_ = static_cast<std::uint16_t>(sequence + 1);
            return std::nullopt;
        }
        // The sender continues from there: above all numbers so far.
        unwrapper_.reset();
        base_ = (highest_ / kCycle + 1) * kCycle;
        first_.reset();
        received_ = 0;
        expected_before_ = 0;
        received_before_ = 0;
        last_arrival_.reset();
        number = {.sequence = widen(sequence), .has_restarted = true};
    }
    bad_next_.reset();
    if (!first_) {
        first_ = number.sequence;
        highest_ = number.sequence;
    }
    ++received_;
    if (number.sequence < *first_)
        first_ = number.sequence;
    if (number.sequence >= highest_) {
        // Only forwards: a stream joined around a wrap must not fall back by one.
        unwrapper_.widen(sequence);
        highest_ = number.sequence;
        count_jitter(now, timestamp);
    }
    return number;
}

// RFC 3550, A.8, only across different timestamps: packets of one frame leave together and give no information.
void Reception::count_jitter(TimePoint now, std::uint32_t timestamp) {
    if (last_arrival_ && timestamp != last_timestamp_) {
        const double arrived = std::chrono::duration<double>(now - *last_arrival_).count() * clock_rate_;
        const double sent = static_cast<std::int32_t>(timestamp - last_timestamp_);
        // A jump of the sender's clock does not count as jitter.
        if (const double difference = std::abs(arrived - sent); difference < 10.0 * clock_rate_)
            jitter_ += (difference - jitter_) / 16;
    }
    if (!last_arrival_ || timestamp != last_timestamp_) {
        last_arrival_ = now;
        last_timestamp_ = timestamp;
    }
}

wire::rtcp::ReportBlock Reception::report() {
    const std::int64_t expected_now = expected() - expected_before_;
    const auto received_now = static_cast<std::int64_t>(received_ - received_before_);
    const std::int64_t lost_now = std::max<std::int64_t>(0, expected_now - received_now);
    fraction_lost_ = expected_now > 0 ? static_cast<double>(lost_now) / static_cast<double>(expected_now) : 0;
    expected_before_ = expected();
    received_before_ = received_;
    wire::rtcp::ReportBlock block;
    block.fraction_lost = static_cast<std::uint8_t>(std::min(255.0, fraction_lost_ * 256));
    block.lost = static_cast<std::int32_t>(std::clamp(lost(), -kLostMax, kLostMax));
    block.highest_sequence = static_cast<std::uint32_t>(highest_ - kCycle);
    block.jitter = static_cast<std::uint32_t>(jitter_);
    return block;
}

std::chrono::microseconds Reception::jitter() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::duration<double>(jitter_ / clock_rate_));
}

}  // namespace live::engine::rtp
