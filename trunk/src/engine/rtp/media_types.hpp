// Types shared by this folder and its users: a track as negotiated by two ends (by SDP or otherwise), and the packets that go in
// and come out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/media_kind.hpp"
#include "base/time.hpp"

namespace live::engine::rtp {

struct TrackFormat {
    MediaKind kind{};
    std::string mid;    // in a BUNDLE (RFC 8843); empty without one
    std::string codec;  // the encoding name of the RTP payload format
    std::uint8_t payload_type = 0;
    std::uint32_t clock_rate = 90'000;
    std::optional<std::uint8_t> rtx_payload_type;
    bool has_nack = false;               // lost packets can be requested
    std::uint8_t transport_wide_id = 0;  // header extension id; 0 for none
    std::uint8_t mid_id = 0;
    std::uint8_t rid_id = 0;
    std::uint8_t repaired_rid_id = 0;
    std::vector<std::string> layers;  // simulcast rids
};

// From a publisher.
struct MediaPacket {
    MediaKind kind{};
    std::uint64_t sequence = 0;   // of the kind: continuous across layers and SSRCs; a gap is a lost packet
    std::uint32_t timestamp = 0;  // continuous, too
    bool marker = false;
    bool follows_loss = false;  // packets before it were given up
    bool begins_key = false;    // video: the first packet of a key frame; audio: always false
    Slice payload;              // RTP payload; never empty
    TimePoint arrived{};
};

// From a publisher with simulcast: a packet of one layer of its video, whose `sequence` is not set.
struct LayerPacket {
    std::size_t layer = 0;  // index in TrackFormat::layers
    MediaPacket media;
};

// A packet of one kind in the RTP logs of a stream.
struct LogNumber {
    std::uint16_t sequence = 0;
    std::uint8_t layer = 0;  // 0: the log of the stream itself; others have a log for each layer of the video

    bool operator==(const LogNumber&) const = default;
};

// The header fields of an RTP log packet.
struct RtpLogHeader {
    std::uint16_t sequence = 0;  // the RTP log's own sequence number, of this kind
    std::uint32_t timestamp = 0;
    bool marker = false;
    MediaTime time{0};  // of the frame, on the timeline shared by audio and video: used for sender reports
    // A number is skipped before it because a packet was lost for good, and the player must notice. Any other step of more than
    // one is a jump by the reader, of which the player sees no gap.
    bool follows_loss = false;
    std::uint8_t layer = 0;  // of its log, see LogNumber

    LogNumber number() const { return {sequence, layer}; }
};

}  // namespace live::engine::rtp
