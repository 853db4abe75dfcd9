// RtpOrder: transport streams in RTP (RFC 2250, 2; payload type 33) in the order of their sequence numbers. Packets after a gap
// wait in a small window; a missing packet counts as lost when the window is full. Dry.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"

namespace live::session::mpegts {

class RtpOrder {
public:
    static constexpr std::uint8_t kPayloadType = 33;
    // Number of packets that wait for a gap before them to be filled.
    static constexpr std::size_t kWindow = 32;

    struct Counters {
        std::uint64_t lost = 0;
        std::uint64_t late = 0;    // or received twice
        std::uint64_t resets = 0;  // another SSRC, or another count
    };

    // The payload of RTP with a transport stream, borrowed; none for anything else.
    static std::optional<Bytes> payload_of(Bytes datagram);

    // Appends the payloads that are in order now. Other datagrams are ignored.
    void push(Bytes datagram, std::vector<std::uint8_t>& out);
    const Counters& counters() const { return counters_; }
    std::size_t held() const { return held_; }

private:
    struct Slot {
        bool full = false;
        std::vector<std::uint8_t> payload;
    };

    void reset(std::uint16_t sequence, std::uint32_t ssrc);
    Slot& slot(std::uint16_t sequence) { return slots_[sequence % kWindow]; }
    void release(std::vector<std::uint8_t>& out);

    std::array<Slot, kWindow> slots_;
    std::optional<std::uint32_t> ssrc_;
    std::uint16_t next_ = 0;
    std::size_t held_ = 0;
    unsigned strays_ = 0;  // in a row, of numbers far away
    Counters counters_;
};

}  // namespace live::session::mpegts
