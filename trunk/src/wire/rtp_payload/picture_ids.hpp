// The counters in the payload descriptors of VP8 (RFC 7741, 4.2) and VP9 (RFC 9628, 4.2) by which receivers order frames: the
// picture ID, and TL0PICIDX, which counts frames of the lowest temporal layer. A sender that changes from one stream to another
// rewrites them, so that they continue.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "wire/rtp_payload/key_start.hpp"

namespace live::wire::rtp_payload {

struct PictureIds {
    std::size_t id_at = 0;     // offset in the payload
    std::uint8_t id_bits = 7;  // 7 or 15
    std::uint16_t id = 0;
    std::optional<std::size_t> tl0_at{};
    std::uint8_t tl0 = 0;

    bool operator==(const PictureIds&) const = default;
};

// Nothing for other codecs, and for payloads that are truncated or have no picture ID.
std::optional<PictureIds> find_picture_ids(VideoFormat format, Bytes payload);
// Writes the values into a payload in which they were found; `id` is cut to its bits.
void write_picture_ids(MutBytes payload, const PictureIds& ids);

}  // namespace live::wire::rtp_payload
