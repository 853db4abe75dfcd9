// The last word of a DTLS server, kept to be said again when its object has been let go. The client repeats its own last flight
// until it has got ours (RFC 6347, 4.2.4, "FINISHED"), which is some 70 bytes where the object is 40 to 60 KiB. The bytes are the
// same each time, record numbers included: who has them drops them as a replay, and no nonce of the cipher is used for anything
// else.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::dtls {

class LastFlight {
public:
    // Whoever asks more often is not answered more often.
    static constexpr std::chrono::milliseconds kInterval{20};

    LastFlight(std::vector<std::uint8_t> datagram, TimePoint sent) : datagram_(std::move(datagram)), sent_(sent) {}

    // Does this datagram have the client's Finished in it? Then the flight is to be sent, and counts as sent.
    bool is_wanted(TimePoint now, Bytes datagram);
    Bytes datagram() const { return datagram_; }

private:
    std::vector<std::uint8_t> datagram_;
    TimePoint sent_;
};

}  // namespace live::engine::dtls
