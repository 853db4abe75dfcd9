// Paces the packets sent to one player: a frame of many packets leaves at the rate of the link and not in a burst that a router
// would drop. It holds no packets: the player has a place in the source's packets, and the pacer decides when the next one may be
// sent.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/time.hpp"

namespace live::engine::rtp {

class Pacer {
public:
    struct Options {
        std::uint64_t bits_per_second = 2'000'000;
        double headroom = 2.5;  // above the rate: frames differ in size, and a key frame must not take seconds
        std::chrono::milliseconds burst = 10ms;
    };

    Pacer(Options options, TimePoint now) : options_(options), at_(now) {}

    void set_rate(TimePoint now, std::uint64_t bits_per_second) {
        refill(now);
        options_.bits_per_second = bits_per_second;
    }
    // One packet may exceed the budget, so that no packet is too large for it; audio is small and never waits.
    bool may_send(TimePoint now) {
        refill(now);
        return budget_ >= 0;
    }
    void sent(TimePoint now, std::size_t bytes) {
        refill(now);
        budget_ -= static_cast<double>(bytes) * 8;
    }
    // Returns when a negative budget reaches zero; `now` if it is not negative.
    TimePoint next_send(TimePoint now) {
        refill(now);
        if (budget_ >= 0)
            return now;
        const std::chrono::duration<double> wait(-budget_ / rate());
        return now + std::chrono::ceil<std::chrono::microseconds>(wait);
    }

private:
    double rate() const { return std::max(1.0, static_cast<double>(options_.bits_per_second) * options_.headroom); }
    void refill(TimePoint now) {
        if (now <= at_)
            return;
        const std::chrono::duration<double> passed = now - at_;
        const std::chrono::duration<double> burst = options_.burst;
        budget_ = std::min(budget_ + passed.count() * rate(), burst.count() * rate());
        at_ = now;
    }

    Options options_;
    TimePoint at_;
    double budget_ = 0;  // bits; may be negative
};

}  // namespace live::engine::rtp
