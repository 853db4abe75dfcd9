// HandshakeFlights: the destination and the timing of our flights of a DTLS handshake. They prove the address of a peer that has
// answered all of them, and measure one round trip.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/net/transport_address.hpp"
#include "base/time.hpp"

namespace live::engine::webrtc {

class HandshakeFlights {
public:
    // A longer time is the peer's, not that of the network.
    static constexpr std::chrono::seconds kRoundTripMax{1};

    void note_sent(TimePoint now, const std::optional<TransportAddress>& to) {
        // Measured for the first flight only: for later ones it is unknown which flight was answered.
        if (!sent_at_ && !round_trip_)
            sent_at_ = now;
        if (to)
            has_moved_ |= std::exchange(to_, to).value_or(*to) != *to;
    }
    void note_answer(TimePoint arrived) {
        if (!sent_at_)
            return;
        const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(arrived - *sent_at_);
        round_trip_ = std::clamp(passed, std::chrono::microseconds::zero(), std::chrono::microseconds(kRoundTripMax));
        sent_at_.reset();
    }
    // The destination, if all flights went to one address.
    std::optional<TransportAddress> only_destination() const { return has_moved_ ? std::nullopt : to_; }
    // Returns the time from the first flight to its answer; nullopt before the answer.
    std::optional<std::chrono::microseconds> round_trip() const { return round_trip_; }

private:
    std::optional<TimePoint> sent_at_;
    std::optional<TransportAddress> to_;
    bool has_moved_ = false;  // flights went to more than one address
    std::optional<std::chrono::microseconds> round_trip_;
};

}  // namespace live::engine::webrtc
