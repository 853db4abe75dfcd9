#include "session/rtc/transport/circuit_breaker.hpp"

#include <algorithm>

namespace live::session::rtc {

void CircuitBreaker::count(std::uint32_t& left, bool is_above, std::uint32_t pulse) {
    if (is_above)
        left = std::max<std::uint32_t>(pulse, 1);
    else if (left > 0)
        --left;
}

bool CircuitBreaker::take_load(double percent) {
    if (!options_.enabled)
        return false;
    const int before = level();
    count(high_left_, percent > options_.high_threshold, options_.high_pulse);
    count(critical_left_, percent > options_.critical_threshold, options_.critical_pulse);
    dying_seconds_ = percent > options_.dying_threshold ? dying_seconds_ + 1 : 0;
    is_dying_ = dying_seconds_ > 0 && dying_seconds_ >= options_.dying_pulse;
    return level() != before;
}

std::string CircuitBreaker::text() const {
    switch (level()) {
        case 0: return "everything is done again";
        case 1: return "no NACK";
        case 2: return "no NACK, no TWCC";
        default: return "no NACK, no TWCC, nothing for players";
    }
}

}  // namespace live::session::rtc
