// VP8 (RFC 7741) and VP9 (RFC 9628) in RTP, both directions: a payload descriptor before each fragment of a frame. VP9 layers
// with the same timestamp come out as one frame, in order; no superframe index is added.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/frame_builder.hpp"

namespace live::wire::rtp_payload {

struct Vp8Descriptor {
    std::size_t bytes = 0;  // size of the descriptor itself
    bool begins_partition = false;
    std::uint8_t partition = 0;
    std::optional<std::uint16_t> picture_id;  // 7 or 15 bits

    bool begins_frame() const { return begins_partition && partition == 0; }
};
// Errc::need_more, Errc::malformed without payload after it.
Result<Vp8Descriptor> parse_vp8_descriptor(Bytes payload);

struct Vp9Descriptor {
    std::size_t bytes = 0;
    bool is_inter = false;  // predicted from another frame
    bool begins_frame = false;
    bool ends_frame = false;
    bool is_switching_point = false;
    std::uint8_t spatial = 0;
    std::uint8_t temporal = 0;
    std::optional<std::uint16_t> picture_id;
};
// Errc::need_more, Errc::malformed without payload after it.
Result<Vp9Descriptor> parse_vp9_descriptor(Bytes payload);

enum class VpxCodec : std::uint8_t { vp8, vp9 };

class VpxDepacketizer {
public:
    explicit VpxDepacketizer(VpxCodec codec) : codec_(codec) {}

    // Errc::need_more, Errc::malformed: the packet and its frame are lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    std::optional<Frame> poll() { return frames_.poll(); }
    std::uint64_t lost_frames() const { return frames_.lost_frames(); }

private:
    struct Piece {
        std::size_t descriptor_bytes = 0;
        bool begins = false;
        bool is_key = false;
    };
    Result<Piece> piece_of(Bytes payload) const;

    FrameBuilder frames_;
    VpxCodec codec_;
};

// Fragments of nearly equal size after descriptors with a 15-bit picture ID, which the caller increments per frame. A VP8 frame
// itself carries its kind; for VP9 the caller passes it.
enum class FrameKind : bool { inter, key };
void packetize_vp8(Bytes frame, std::uint16_t picture_id, std::size_t payload_bytes_max, PayloadList& out);
void packetize_vp9(Bytes frame, FrameKind kind, std::uint16_t picture_id, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
