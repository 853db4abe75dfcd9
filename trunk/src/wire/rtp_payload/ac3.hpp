// AC-3 in RTP (RFC 4184), both directions: one or several frames in a packet, or a frame in several.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/audio_frames.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

class Ac3Depacketizer {
public:
    explicit Ac3Depacketizer(std::uint32_t clock_rate) : frames_(clock_rate) {}

    // Errc::need_more, Errc::malformed, Errc::limit, Errc::unsupported: the packet is lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    // The next frame; its sequence numbers are not set.
    std::optional<Frame> poll() { return frames_.poll(); }

private:
    AudioFrames frames_;
};

// One frame, in several packets if it is too long for one. `payload_bytes_max` is at least kPayloadBytesMin. Errc::limit for more
// than kAc3FrameBytesMax bytes, and for more than 255 packets.
Result<void> packetize_ac3(Bytes frame, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
