// The clock OpenSSL sees in tests: OpenSSL reads the system time before it retransmits a DTLS flight, and dtls/transport_test.cpp
// returns this one.
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
// The clock used by the crypto library in programs that contain dtls/transport_test.cpp.
inline SimulatedClock& simulated_clock() {
    static SimulatedClock clock;
    return clock;
}

}  // namespace live::engine::dtls
