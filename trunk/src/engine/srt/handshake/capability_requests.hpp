// CapabilityRequests: the messages by which a version 4 connection repeats its capabilities until the peer sends its own. Starts
// with the first data packet sent without them.
#pragma once

#include "engine/srt/transfer/round_trip.hpp"

namespace live::engine::srt {

class CapabilityRequests {
public:
    static constexpr Micros kInterval{250'000};
    static constexpr unsigned kCountMax = 20;

    // Data is sent before the peer's capabilities have arrived.
    void start() { is_waiting_ = true; }
    // They have arrived.
    void finish() { is_waiting_ = false; }

    bool is_due(Micros now) const { return is_waiting_ && count_ < kCountMax && now >= next_at_; }
    void note_sent(Micros now) {
        ++count_;
        next_at_ = now + kInterval;
    }
    // Whether only the wait after the last request remains.
    bool are_all_sent() const { return is_waiting_ && count_ == kCountMax; }
    // Whether that wait is over, too.
    bool are_unanswered(Micros now) const { return are_all_sent() && now >= next_at_; }
    // The time of the next request, or the end of the wait after the last one. Micros::max() without requests.
    Micros next_timeout() const { return is_waiting_ ? next_at_ : Micros::max(); }

private:
    bool is_waiting_ = false;
    Micros next_at_{};
    unsigned count_ = 0;
};

}  // namespace live::engine::srt
