// Counters of a WebRTC session, for logs, the API and metrics.
#pragma once

#include <chrono>
#include <cstdint>

namespace live::engine::webrtc {

// Since the session began, unless marked "now".
struct SessionFigures {
    std::uint64_t packets_in = 0;  // authentic RTP, including retransmissions
    std::uint64_t bytes_in = 0;    // of their datagrams
    std::uint64_t packets_out = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t lost = 0;             // of the media streams, as RTCP counts: not received (publish), or reported by the player
    std::uint64_t given_up = 0;         // publish: packets that did not arrive in time
    std::uint64_t nacked = 0;           // packets requested: by us (publish) or by the player
    std::uint64_t repaired = 0;         // received or sent by retransmission
    std::uint64_t key_requests = 0;     // PLI or FIR: sent (publish), or received
    std::uint64_t layer_switches = 0;   // publish with simulcast
    std::uint64_t unknown_address = 0;  // datagrams from an unchecked address: dropped unread
    std::uint64_t not_authentic = 0;    // failed SRTP, including replays
    std::uint64_t unwanted = 0;         // RTP from a player, or of too many streams: dropped unread
    std::uint64_t not_understood = 0;   // RTP of no stream of the agreement, malformed RTCP
    std::chrono::microseconds round_trip{0};  // now; zero until known
    std::chrono::microseconds jitter{0};      // now, of the video if there is one, measured here or at the player
    double loss = 0;                          // now, 0 to 1, as last reported
    std::uint64_t estimated_rate = 0;         // now, bits per second; zero without feedback
};

}  // namespace live::engine::webrtc
