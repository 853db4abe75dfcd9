// H.264 (RFC 6184) and HEVC (RFC 7798) in RTP: single NAL units, aggregates and fragments, both directions. The two formats
// differ in the length of the NAL unit's header and in a few numbers. Interleaving (STAP-B, FU-B, MTAP, DONL) is never agreed on
// in WebRTC and is refused.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/frame_builder.hpp"

namespace live::wire::rtp_payload {

enum class NalCodec : std::uint8_t { avc, hevc };

class NalDepacketizer {
public:
    explicit NalDepacketizer(NalCodec codec) : codec_(codec) {}

    // Errc::malformed, Errc::unsupported: the packet and its frame are lost, the next one is welcome.
    Result<void> push(const Fragment& fragment);
    std::optional<Frame> poll() { return frames_.poll(); }
    std::uint64_t lost_frames() const { return frames_.lost_frames(); }

private:
    Result<void> read(Bytes payload);
    Result<void> read_aggregate(Bytes units);
    Result<void> read_fragment(Bytes payload);
    void append_unit(Bytes unit);
    bool may_begin(Bytes payload) const;

    FrameBuilder frames_;
    std::optional<std::size_t> fragment_at_;  // where the length of the unit in pieces stands in the frame
    NalCodec codec_;
};

// `frame` is NAL units behind lengths of four bytes, `payload_bytes_max` at least kPayloadBytesMin. Small neighbours share a
// packet, a long unit takes several. Errc::malformed when the lengths do not fit; nothing is added then.
Result<void> packetize_nal(NalCodec codec, Bytes frame, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
