#include "engine/rtp/receive/jitter_buffer.hpp"

#include <utility>

namespace live::engine::rtp {

bool JitterBuffer::push(TimePoint now, Ordered packet) {
    const std::uint64_t sequence = packet.sequence;
    if (!next_ || (!has_left_ && sequence < *next_))
        next_ = sequence;
    if (sequence < *next_ || waiting_.size() == kPacketsMax)
        return false;
    packet.arrived = now;
    return waiting_.try_emplace(sequence, std::move(packet)).second;
}

bool JitterBuffer::pass(std::uint64_t sequence) {
    if (!waiting_.empty() || (next_ && sequence != *next_))
        return false;
    next_ = sequence + 1;
    has_left_ = true;
    return true;
}

std::optional<JitterBuffer::Ordered> JitterBuffer::pop(TimePoint now) {
    if (waiting_.empty())
        return std::nullopt;
    const auto first = waiting_.begin();
    if (first->first != *next_ && now - first->second.arrived < wait_max_ && waiting_.size() < kPacketsMax)
        return std::nullopt;
    given_up_ += first->first - *next_;
    Ordered ordered = std::move(first->second);
    waiting_.erase(first);
    next_ = ordered.sequence + 1;
    has_left_ = true;
    return ordered;
}

std::optional<TimePoint> JitterBuffer::next_timeout() const {
    if (waiting_.empty())
        return std::nullopt;
    const auto& [sequence, first] = *waiting_.begin();
    return sequence == *next_ ? first.arrived : first.arrived + wait_max_;
}

}  // namespace live::engine::rtp
