// The last flight of a DTLS server, kept for retransmission after its object was released. The client repeats its own last flight
// until it has received ours (RFC 6347, 4.2.4, "FINISHED"), which is some 70 bytes while the object takes 40 to 60 KiB. The bytes
// are the same each time, including record numbers: a peer that has them already drops them as a replay, and no cipher nonce is
// reused for different content.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::dtls {

class LastFlight {
public:
    // Minimum interval between retransmissions.
    static constexpr std::chrono::milliseconds kInterval{20};

    // Maximum number of datagrams kept. There is more than one if an earlier flight was retransmitted at the same time and
    // precedes the last flight. This happens only if a timer is handled late, for example by a busy handshake thread.
    static constexpr std::size_t kDatagramsMax = 4;
    static bool may_keep(std::size_t datagrams) { return datagrams >= 1 && datagrams <= kDatagramsMax; }

    LastFlight(std::vector<std::vector<std::uint8_t>> datagrams, TimePoint sent)
        : datagrams_(std::move(datagrams)), sent_(sent) {}

    // Whether this datagram contains the client's Finished. Then the flight must be sent, and counts as sent.
    bool is_wanted(TimePoint now, Bytes datagram);
    const std::vector<std::vector<std::uint8_t>>& datagrams() const { return datagrams_; }

private:
    std::vector<std::vector<std::uint8_t>> datagrams_;
    TimePoint sent_;
};

}  // namespace live::engine::dtls
