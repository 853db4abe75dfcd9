#include "engine/rtp/receive/arrival_recorder.hpp"

#include <limits>

namespace live::engine::rtp {

using wire::rtcp::kDeltaTick;
using wire::rtcp::kReferenceTick;
using wire::rtcp::TransportFeedback;

void ArrivalRecorder::received(TimePoint now, std::uint16_t sequence) {
    const std::uint64_t wide = unwrapper_.widen(sequence);
    // It was reported as lost, and that is final.
    if (next_ && wide < *next_)
        return;
    arrivals_.try_emplace(wide, now);
    while (arrivals_.size() > kPacketsMax || arrivals_.rbegin()->first - arrivals_.begin()->first >= kPacketsMax)
        arrivals_.erase(arrivals_.begin());
    if (!due_)
        due_ = now + interval_;
}

std::optional<TransportFeedback> ArrivalRecorder::poll(TimePoint now, std::uint32_t ssrc, std::uint32_t media_ssrc) {
    if (!due_ || now < *due_ || arrivals_.empty())
        return std::nullopt;
    const auto [first, arrived] = *arrivals_.begin();
    // The report includes lost packets before the first, unless the sequence numbers have jumped.
    const bool has_jumped = !next_ || arrivals_.rbegin()->first - *next_ >= kPacketsMax;
    std::uint64_t sequence = has_jumped ? first : *next_;
    TransportFeedback feedback;
    feedback.sender_ssrc = ssrc;
    feedback.media_ssrc = media_ssrc;
    feedback.base_sequence = static_cast<std::uint16_t>(sequence);
    feedback.feedback_count = reports_++;
    const auto reference = std::chrono::floor<std::chrono::microseconds>(arrived.time_since_epoch()) / kReferenceTick;
    // 24-bit signed; only differences are meaningful.
    feedback.reference_time = static_cast<std::int32_t>((reference & 0xFFFFFF) ^ 0x800000) - 0x800000;
    TimePoint last{std::chrono::microseconds(kReferenceTick * reference)};
    while (!arrivals_.empty() && feedback.packets.size() < kPacketsMax) {
        const auto next = arrivals_.begin();
        if (sequence++ != next->first) {
            feedback.packets.push_back({});
            continue;
        }
        const auto ticks = std::chrono::round<std::chrono::microseconds>(next->second - last) / kDeltaTick;
        if (ticks > std::numeric_limits<std::int16_t>::max() || ticks < std::numeric_limits<std::int16_t>::min()) {
            --sequence;
            break;
        }
        feedback.packets.push_back({true, static_cast<std::int16_t>(ticks)});
        // Adds the reported value, not the exact one: rounding errors must not accumulate.
        last += kDeltaTick * ticks;
        arrivals_.erase(next);
    }
    next_ = sequence;
    if (arrivals_.empty())
        due_.reset();
    return feedback;
}

std::optional<TimePoint> ArrivalRecorder::next_timeout() const { return due_; }

}  // namespace live::engine::rtp
