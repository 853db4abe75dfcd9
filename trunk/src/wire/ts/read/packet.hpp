// One transport packet, parsed (ISO/IEC 13818-1, 2.4.3.2 and 2.4.3.4). The clock reference is not read: nothing here waits for a
// packet's time.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::ts {

struct Packet {
    std::uint16_t pid = 0;
    std::uint8_t counter = 0;
    bool damaged = false;  // transport_error_indicator
    bool begins = false;   // payload_unit_start_indicator
    bool scrambled = false;
    bool has_payload = false;
    bool discontinuity = false;  // what follows may have other counters and times
    Bytes payload;               // borrowed
};

// Errc::need_more for fewer than 188 bytes, Errc::malformed without a sync byte, or when the adaptation field does not fit.
Result<Packet> parse_packet(Bytes bytes);

}  // namespace live::wire::ts
