// The frames of an FLV clip as RTP packets, made once and sent by every publisher of a load with its own sequence numbers,
// timestamps and keys. H.264 only: every server and browser accepts it. Audio is left out, since FLV has AAC and WebRTC does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "bench/clips/flv_clip.hpp"

namespace live::bench {

struct RtpClipPacket {
    std::uint32_t time_ms = 0;   // when to send it, since the beginning of a round
    std::uint32_t shown_ms = 0;  // of its frame: basis of its RTP time
    bool marker = false;         // ends its frame
    bool takes_stamp = false;    // a delay stamp belongs before it: after the parameter sets, before the frame
    Slice payload;
};

struct RtpClip {
    static constexpr std::uint32_t kClockRate = 90'000;
    // Payload limit; the same as WebRTC's own senders.
    static constexpr std::size_t kPayloadBytesMax = 1'200;

    std::vector<RtpClipPacket> packets;  // not empty; times rise
    std::uint32_t round_ms = 0;          // when the next round begins; above every time
    std::uint64_t pictures = 0;
    std::string format;  // the content of a=fmtp
};

// Parameter sets are inserted before each key frame that has none. Errc::unsupported when there is no H.264, Errc::malformed.
Result<RtpClip> make_rtp_clip(const FlvClip& clip);

}  // namespace live::bench
