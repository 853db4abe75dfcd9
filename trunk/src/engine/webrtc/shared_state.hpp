// State shared by all sessions of a server: common counters for the log and the metrics, and the work that is skipped while the
// CPU is overloaded.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/bytes/bytes.hpp"
#include "engine/rtp/send/layer_selector.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::webrtc {

// RTCP in one direction, counted in packets, several of which may share a datagram.
struct RtcpCounts {
    std::uint64_t key_requests = 0;      // PLI and FIR
    std::uint64_t arrival_reports = 0;   // transport-wide feedback
    std::uint64_t receiver_reports = 0;  // including empty ones that only precede other packets
    std::uint64_t nacked = 0;            // RTP packets requested
};

struct SharedState {
    RtcpCounts in;
    RtcpCounts out;
    std::uint64_t rtp_out = 0;   // datagrams, including retransmissions
    std::uint64_t rtcp_out = 0;  // datagrams
    std::uint64_t resent = 0;    // retransmissions requested by players
    // For players of streams with layers: bytes sent to measure links, and changes of the layer, by rtp::LayerSelector::Reason.
    std::uint64_t padded_bytes = 0;
    std::array<std::uint64_t, rtp::LayerSelector::kReasons> layer_changes{};

    // Lost packets are neither requested nor retransmitted.
    bool skips_nack = false;
    // Arrivals are not reported, and players' reports are ignored.
    bool skips_arrivals = false;
    // Receives every received and sent RTP and RTCP packet unencrypted. Must not suspend. Empty: nothing does.
    std::function<void(Bytes packet)> tap{};
};

void count_rtcp(RtcpCounts& counts, const wire::rtcp::Packet& packet);
// Counts a whole datagram up to the first malformed packet.
void count_rtcp(RtcpCounts& counts, Bytes datagram);

}  // namespace live::engine::webrtc
