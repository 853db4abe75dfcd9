// What the parts of this folder hand to each other and to their users: a track as two ends have agreed on it, whoever negotiated
// (SDP or anything else), and the packets that go in and come out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/time.hpp"

namespace live::engine::rtp {

enum class Kind : std::uint8_t { audio, video };

struct TrackFormat {
    Kind kind{};
    std::string mid;    // of a BUNDLE (RFC 8843); empty without one
    std::string codec;  // the encoding name of the RTP payload format
    std::uint8_t payload_type = 0;
    std::uint32_t clock_rate = 90'000;
    std::optional<std::uint8_t> rtx_payload_type;
    bool has_nack = false;               // lost packets may be asked for
    std::uint8_t transport_wide_id = 0;  // of header extensions; 0 for none
    std::uint8_t mid_id = 0;
    std::uint8_t rid_id = 0;
    std::uint8_t repaired_rid_id = 0;
    std::vector<std::string> layers;  // rids of simulcast
};

// From a publisher.
struct MediaPacket {
    Kind kind{};
    std::uint64_t sequence = 0;   // of the kind: one line, whatever layer or SSRC it comes from; a hole is a lost packet
    std::uint32_t timestamp = 0;  // one line, too
    bool marker = false;
    bool follows_loss = false;  // packets in front of it were given up
    bool begins_key = false;    // video: the first packet of a key frame; audio: always false
    Slice payload;              // of RTP; never empty
    TimePoint arrived{};
};

// A packet of a RTP log, as far as its header is concerned.
struct RtpLogHeader {
    std::uint16_t sequence = 0;  // the RTP log's own number, of this kind
    std::uint32_t timestamp = 0;
    bool marker = false;
    MediaTime time{0};  // of the frame, on the timeline that audio and video share: what sender reports are made of
    // A number is left out in front of it because a packet was lost for good: the player shall notice. Any other step of more
    // than one is a jump that the reader made, and the player sees no hole.
    bool follows_loss = false;
};

}  // namespace live::engine::rtp
