// CircuitBreaker: does less for WebRTC while the processor has too much to do, in three steps: lost packets are not sent again,
// arrivals are not reported, and in the end players get nothing, so that publishers and everybody else are served. Dry: it is
// told the load once a second.
#pragma once

#include <cstdint>
#include <string>

namespace live::session::rtc {

struct CircuitBreakerOptions {
    bool enabled = true;
    std::uint32_t high_threshold = 90;
    std::uint32_t high_pulse = 2;
    std::uint32_t critical_threshold = 95;
    std::uint32_t critical_pulse = 1;
    std::uint32_t dying_threshold = 99;
    std::uint32_t dying_pulse = 5;
};

class CircuitBreaker {
public:
    explicit CircuitBreaker(const CircuitBreakerOptions& options) : options_(options) {}

    // In percent of one processor, over the last second. True when a step was taken or taken back.
    bool take_load(double percent);

    // NACK is left out.
    bool is_high() const { return high_left_ > 0 || is_critical(); }
    // Transport-wide feedback, too.
    bool is_critical() const { return critical_left_ > 0 || is_dying(); }
    // And packets for players.
    bool is_dying() const { return is_dying_; }
    // 0 to 3.
    int level() const { return is_dying() ? 3 : is_critical() ? 2 : is_high() ? 1 : 0; }
    // In words for a log.
    std::string text() const;

private:
    // A second above puts it there; so many seconds below take it away again.
    static void count(std::uint32_t& left, bool is_above, std::uint32_t pulse);

    const CircuitBreakerOptions options_;
    std::uint32_t high_left_ = 0;
    std::uint32_t critical_left_ = 0;
    std::uint32_t dying_seconds_ = 0;  // above its threshold, without a break
    bool is_dying_ = false;
};

}  // namespace live::session::rtc
