// One key frame as bytes of its own, so that a worker thread may work on it, and the JPEG it becomes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "media/packet.hpp"

namespace live::service::snapshot {

struct KeyFrame {
    media::Codec codec = media::Codec::none;
    std::vector<std::uint8_t> config;  // the decoder configuration record
    std::vector<std::uint8_t> data;    // as FLV and MP4 carry it
};

// Of a key frame and the configuration before it, which has no content for codecs without one. Errc::unsupported for a codec that
// no snapshot is made of, Errc::malformed.
Result<KeyFrame> key_frame_of(const media::Packet& picture, const media::Packet& config);

// Larger pictures are made this wide. A snapshot is a thumbnail.
inline constexpr int kWidthMax = 1'280;
// Pictures of more are refused: a header of some bytes may claim any size.
inline constexpr std::int64_t kPixelsMax = 8'192LL * 4'320;

// Decodes and encodes: some ten milliseconds of work, for a worker thread. Errc::unsupported when this build or machine has no
// decoder for the codec, Errc::malformed when the picture cannot be decoded, Errc::limit over kPixelsMax, Errc::system.
Result<std::vector<std::uint8_t>> jpeg_of(const KeyFrame& frame);

}  // namespace live::service::snapshot
