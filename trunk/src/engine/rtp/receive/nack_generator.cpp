#include "engine/rtp/receive/nack_generator.hpp"

#include <algorithm>
#include <utility>

namespace live::engine::rtp {

void NackGenerator::received(TimePoint now, std::uint64_t sequence) {
    if (!highest_) {
        highest_ = sequence;
        return;
    }
    if (sequence <= *highest_) {
        arrived(now, sequence);
        return;
    }
    add_missing(now, *highest_ + 1, sequence);
    highest_ = sequence;
}

void NackGenerator::arrived(TimePoint now, std::uint64_t sequence) {
    const auto found = missing_.find(sequence);
    if (found == missing_.end())
        return;
    // After several requests, it may be the answer to any of them.
    if (found->second.requests == 1) {
        const auto sample = std::chrono::duration_cast<std::chrono::microseconds>(now - found->second.asked);
        round_trip_ = round_trip_.count() == 0 ? sample : (3 * round_trip_ + sample) / 4;
    }
    missing_.erase(found);
}

void NackGenerator::add_missing(TimePoint now, std::uint64_t from, std::uint64_t to) {
    if (to - from > kMissingMax - std::min(kMissingMax, missing_.size())) {
        given_up_ += missing_.size() + (to - from);
        missing_.clear();
        return;
    }
    for (std::uint64_t sequence = from; sequence < to; ++sequence)
        missing_.emplace_hint(missing_.end(), sequence, Missing{.noticed = now, .due = now + options_.reorder_wait});
}

std::vector<std::uint16_t> NackGenerator::due(TimePoint now) {
    std::vector<std::uint16_t> sequences;
    const auto retry = std::max<std::chrono::microseconds>(options_.retry_min, round_trip_);
    for (auto it = missing_.begin(); it != missing_.end();) {
        auto& [sequence, missing] = *it;
        const bool is_old = now - missing.noticed >= options_.give_up;
        if (is_old || (now >= missing.due && missing.requests == options_.requests_max)) {
            ++given_up_;
            it = missing_.erase(it);
            continue;
        }
        if (now >= missing.due) {
            sequences.push_back(static_cast<std::uint16_t>(sequence));
            missing.due = now + retry;
            missing.asked = now;
            ++missing.requests;
            ++requested_;
        }
        ++it;
    }
    return sequences;
}

std::optional<TimePoint> NackGenerator::next_timeout() const {
    std::optional<TimePoint> next;
    for (const auto& [sequence, missing] : missing_) {
        const TimePoint at = std::min(missing.due, missing.noticed + options_.give_up);
        next = next ? std::min(*next, at) : at;
    }
    return next;
}

}  // namespace live::engine::rtp
