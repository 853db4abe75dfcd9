// What all sessions of a server have in common: what they count together, for the log and the metrics, and what they leave out
// while the processor has too much to do.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "wire/rtcp/packet.hpp"

namespace live::engine::webrtc {

// Of RTCP that went one way. In packets, of which a datagram may hold several.
struct RtcpCounts {
    std::uint64_t key_requests = 0;      // PLI and FIR
    std::uint64_t arrival_reports = 0;   // transport-wide feedback
    std::uint64_t receiver_reports = 0;  // also those that are in front of something else and say nothing
    std::uint64_t nacked = 0;            // RTP packets that were asked for
};

// Sees every RTP and RTCP packet that comes or is sent, without its protection. Must not suspend.
class PlainTap {
public:
    virtual ~PlainTap() = default;
    virtual void on_plain(Bytes packet) = 0;
};

struct SharedState {
    RtcpCounts in;
    RtcpCounts out;
    std::uint64_t rtp_out = 0;   // datagrams, with those sent again
    std::uint64_t rtcp_out = 0;  // datagrams
    std::uint64_t resent = 0;    // of what players asked for

    // Lost packets are not asked for, and not sent again.
    bool skips_nack = false;
    // Arrivals are not reported, and reports of players not read.
    bool skips_arrivals = false;
    PlainTap* tap = nullptr;  // outlives the sessions
};

void count_rtcp(RtcpCounts& counts, const wire::rtcp::Packet& packet);
// Of a whole datagram, up to where it breaks its form.
void count_rtcp(RtcpCounts& counts, Bytes datagram);

}  // namespace live::engine::webrtc
