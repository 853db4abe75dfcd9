// What goes into a session of WebRTC and comes out of it, apart from datagrams.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/time.hpp"
#include "wire/sdp/description.hpp"

namespace live::engine::rtc {

using Kind = wire::sdp::Kind;  // audio or video

// From a publisher.
struct MediaPacket {
    Kind kind{};
    std::uint64_t sequence = 0;   // of the kind: one line, whatever layer or SSRC it comes from; a hole is a lost packet
    std::uint32_t timestamp = 0;  // one line, too
    bool marker = false;
    bool follows_loss = false;  // packets in front of it were given up
    bool begins_key = false;    // video: the first packet of a key picture; audio: always false
    Slice payload;              // of RTP; never empty
    TimePoint arrived{};
};

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
    std::chrono::microseconds jitter{0};      // now, of the picture if there is one, of what arrives here or at the player
    double loss = 0;                          // now, 0 to 1, as last reported
    std::uint64_t estimated_rate = 0;         // now, bits a second; zero without feedback
};

// A packet of a lane, as far as its header is concerned.
struct LaneHeader {
    std::uint16_t sequence = 0;  // the lane's own number, of this kind
    std::uint32_t timestamp = 0;
    bool marker = false;
    MediaTime time{0};  // of the frame, on the timeline that sound and picture share: what sender reports are made of
    // A number is left out in front of it because a packet was lost for good: the player shall notice. Any other step of more
    // than one is a jump that the reader made, and the player sees no hole.
    bool follows_loss = false;
};

}  // namespace live::engine::rtc
