// An FLV file as a publisher sends it, round after round: its messages in order, and the duration of a round.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/message.hpp"

namespace live::bench {

struct ClipMessage {
    wire::rtmp::MessageType type{};
    std::uint32_t time_ms = 0;  // since the first message with media
    bool is_setup = false;      // metadata or a decoder's configuration: sent in the first round only
    Slice body;
};

struct FlvClip {
    static constexpr std::size_t kFileBytesMax = std::size_t{2} << 30;

    std::vector<ClipMessage> messages;  // not empty
    std::uint32_t round_ms = 0;         // when the next round begins; above every time
    std::uint64_t media_bytes = 0;      // audio and video of one round
    // Video is H.264 with four-byte NAL unit lengths, so each frame can carry a stamp.
    bool takes_video_stamps = false;

    double kbps() const;
};

// Metadata gets the name of the call before it, and the duration -1: it does not end. Errc::malformed, Errc::limit,
// Errc::unsupported of wire::flv::FlvReader; Errc::malformed when there is no media.
Result<FlvClip> parse_clip(Bytes file);

}  // namespace live::bench
