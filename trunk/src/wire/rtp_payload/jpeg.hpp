// M-JPEG in RTP (RFC 2435), both directions: baseline images with three components, 4:2:2 (type 0) or 4:2:0 (type 1), with or
// without restart markers. A packet has the entropy-coded data only; the headers of the image are made from those of the payload.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/frame_builder.hpp"

namespace live::wire::rtp_payload {

// In units of 8 pixels, as a payload has them.
inline constexpr std::size_t kJpegSideMax = 255;
// The smallest payload limit of packetize_jpeg(): all headers of a first packet, and some data.
inline constexpr std::size_t kJpegPayloadBytesMin = 256;

class JpegDepacketizer {
public:
    // Errc::need_more, Errc::malformed, Errc::unsupported (another type, interlaced fields, tables of 16 bits): the packet and
    // its image are lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    // Whole JPEG images, each of them a key frame.
    std::optional<Frame> poll() { return frames_.poll(); }
    std::uint64_t lost_frames() const { return frames_.lost_frames(); }

private:
    struct Head;
    using Quantizers = std::array<std::uint8_t, 128>;  // of luma, then of chroma

    static Result<Head> read_head(Bytes payload);
    Result<Quantizers> quantizers_of(const Head& head);
    Result<void> take(const Fragment& fragment, const Head& head);

    FrameBuilder frames_;
    std::size_t header_bytes_ = 0;    // of the image that is being built
    std::optional<Quantizers> kept_;  // of `kept_quality_`
    std::uint8_t kept_quality_ = 0;   // 128 to 254: its tables need not be in each image
};

// Errc::unsupported for an image that the payload format does not carry: progressive, grey, larger than 2040 pixels, other
// sampling, Huffman tables of its own. Errc::need_more and Errc::malformed for a broken one, Errc::limit for a payload limit
// below kJpegPayloadBytesMin.
Result<void> packetize_jpeg(Bytes image, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
