// CircuitBreaker: sheds WebRTC work while the processor is overloaded, in three steps: lost packets are not retransmitted,
// arrivals are not reported, and finally players get nothing, so that publishers and other protocols are still served. Dry: it is
// given the load once per second.
#pragma once

#include <cstdint>
#include <string>

#include "session/rtc/options.hpp"

namespace live::session::rtc {

class CircuitBreaker {
public:
    explicit CircuitBreaker(const CircuitBreakerOptions& options) : options_(options) {}

    // In percent of one core, over the last second. True when the level has changed.
    bool take_load(double percent);

    // NACKs are ignored.
    bool is_high() const { return high_left_ > 0 || is_critical(); }
    // Transport-wide feedback is left out too.
    bool is_critical() const { return critical_left_ > 0 || is_dying(); }
    // So are packets for players.
    bool is_dying() const { return is_dying_; }
    // 0 to 3.
    int level() const { return is_dying() ? 3 : is_critical() ? 2 : is_high() ? 1 : 0; }
    // For the log.
    std::string text() const;

private:
    // One second above sets `left` to `pulse`; it takes that many seconds below to clear.
    static void count(std::uint32_t& left, bool is_above, std::uint32_t pulse);

    const CircuitBreakerOptions options_;
    std::uint32_t high_left_ = 0;
    std::uint32_t critical_left_ = 0;
    std::uint32_t dying_seconds_ = 0;  // consecutive seconds above its threshold
    bool is_dying_ = false;
};

}  // namespace live::session::rtc
