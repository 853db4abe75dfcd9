#include "engine/gb28181/rtp_order.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::gb28181 {

namespace {

constexpr std::int32_t kFar = 1'000;

}  // namespace

void RtpOrder::restart(std::uint16_t sequence) {
    while (!waiting_.empty())
        skip_gap();
    if (first_) {
        ++counters_.restarts;
        has_gap_ = true;
    }
    first_ = sequence;
    strays_ = 0;
}

// Moves everything up to the end of the next run of packets.
void RtpOrder::skip_gap() {
    while (!waiting_.empty() && !waiting_.front().is_full) {
        ++counters_.lost;
        has_gap_ = true;
        waiting_.pop_front();
        ++*first_;
    }
    while (!waiting_.empty() && waiting_.front().is_full) {
        Payload& payload = waiting_.front().payload;
        payload.follows_gap = std::exchange(has_gap_, false);
        ready_.push_back(std::move(payload));
        waiting_.pop_front();
        ++*first_;
    }
}

void RtpOrder::release(TimePoint now) {
    if (!waiting_.empty() && waiting_.front().is_full)
        skip_gap();
    const auto is_overdue = [&] {
        const auto oldest = std::ranges::find(waiting_, true, &Slot::is_full);
        return oldest != waiting_.end() && (waiting_.size() > kWindow || now - oldest->arrived > kWaitMax);
    };
    while (is_overdue())
        skip_gap();
}

void RtpOrder::push(TimePoint now, std::uint16_t sequence, bool marker, Bytes payload) {
    if (!first_)
        restart(sequence);
    const auto ahead = std::int32_t{static_cast<std::int16_t>(static_cast<std::uint16_t>(sequence - *first_))};
    if (ahead > kFar || ahead < -kFar) {
        if (++strays_ < kStraysMax)
            return;
        restart(sequence);
        return push(now, sequence, marker, payload);
    }
    strays_ = 0;
    if (ahead < 0) {
        ++counters_.late;
        return;
    }
    const auto index = static_cast<std::size_t>(ahead);
    if (index >= waiting_.size())
        waiting_.resize(index + 1);
    Slot& slot = waiting_[index];
    if (slot.is_full) {
        ++counters_.late;
        return;
    }
    held_bytes_ += payload.size();
    slot = {true, now, {{payload.begin(), payload.end()}, marker, false}};
    release(now);
}

std::optional<RtpOrder::Payload> RtpOrder::next() {
    if (ready_.empty())
        return std::nullopt;
    Payload payload = std::move(ready_.front());
    ready_.pop_front();
    held_bytes_ -= payload.bytes.size();
    return payload;
}

}  // namespace live::engine::gb28181
