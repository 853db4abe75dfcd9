// One key frame with its own copy of the bytes, so that a worker thread may use it, and its conversion to JPEG.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "media/ring/packet.hpp"

namespace live::service::snapshot {

struct KeyFrame {
    media::Codec codec = media::Codec::none;
    std::vector<std::uint8_t> config;  // the decoder configuration record
    std::vector<std::uint8_t> data;    // as FLV and MP4 carry it
};

// Combines a key frame with the configuration before it, which has no content for codecs without a configuration.
// Errc::unsupported for a codec without snapshots, Errc::malformed.
Result<KeyFrame> key_frame_of(const media::Packet& picture, const media::Packet& config);

// Wider frames are scaled down to this.
inline constexpr int kWidthMax = 1'280;
inline constexpr int kThumbnailWidthMax = 480;
// Larger frames are refused: a header of a few bytes may claim any size.
inline constexpr std::int64_t kPixelsMax = 8'192LL * 4'320;

// Decodes and encodes: about ten milliseconds of work, for a worker thread. Errc::unsupported when this build or machine has no
// decoder for the codec, Errc::malformed when the frame cannot be decoded, Errc::limit over kPixelsMax, Errc::system.
Result<std::vector<std::uint8_t>> jpeg_of(const KeyFrame& frame, int width_max = kWidthMax);

}  // namespace live::service::snapshot
