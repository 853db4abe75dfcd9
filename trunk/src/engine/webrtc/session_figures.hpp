// What a session of WebRTC counts, for logs, the API and metrics.
#pragma once

#include <chrono>
#include <cstdint>

namespace live::engine::webrtc {

// Counted since the session began, except where it says "now".
struct SessionFigures {
    std::uint64_t packets_in = 0;  // RTP, authentic, with those sent again
    std::uint64_t bytes_in = 0;    // of their datagrams
    std::uint64_t packets_out = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t lost = 0;      // of the media streams, as RTCP counts: expected and not come (publish), or told by the player
    std::uint64_t given_up = 0;  // publish: packets that never came in time
    std::uint64_t nacked = 0;    // packets that were asked for: by us (publish) or by the player
    std::uint64_t repaired = 0;  // that came again, or were sent again
    std::uint64_t key_requests = 0;           // PLI or FIR: sent (publish), or received
    std::uint64_t layer_switches = 0;         // publish with simulcast
    std::uint64_t unknown_address = 0;        // datagrams from an address without a check: dropped unread
    std::uint64_t not_authentic = 0;          // failed SRTP, replays with them
    std::uint64_t unwanted = 0;               // RTP from a player, or of more streams than a session may have: dropped unread
    std::uint64_t not_understood = 0;         // RTP of no stream of the agreement, RTCP that breaks its form
    std::chrono::microseconds round_trip{0};  // now; zero before it is known
    std::chrono::microseconds jitter{0};      // now, of the video if there is one, of what arrives here or at the player
    double loss = 0;                          // now, 0 to 1, as last reported
    std::uint64_t estimated_rate = 0;         // now, bits a second; zero without feedback
};

}  // namespace live::engine::webrtc
