// The time as OpenSSL sees it in tests: it asks the system before it sends a flight of DTLS again, and dtls/transport_test.cpp
// answers it with this.
#pragma once

#include <algorithm>
#include <chrono>

#include "base/time.hpp"

namespace live::engine::dtls {

struct SimulatedClock {
    bool is_on = false;
    std::chrono::microseconds now{1'000'000'000'000'000};

    TimePoint current() const { return TimePoint(now); }
    void advance_to(TimePoint to) { now = std::max(now, std::chrono::ceil<std::chrono::microseconds>(to.time_since_epoch())); }
};
// The one that the crypto library is answered by in programs that have dtls/transport_test.cpp.
inline SimulatedClock& simulated_clock() {
    static SimulatedClock clock;
    return clock;
}

}  // namespace live::engine::dtls
