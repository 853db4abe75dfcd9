// H.264 (RFC 6184) and HEVC (RFC 7798) in RTP: single NAL units, aggregates and fragments, both directions. The two formats
// differ in the size of the NAL unit header and in a few constants. Interleaving (STAP-B, FU-B, MTAP, DONL) is never negotiated
// in WebRTC and is rejected. PACI packets are read without their extensions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/frame_builder.hpp"

namespace live::wire::rtp_payload {

enum class NalCodec : std::uint8_t { avc, hevc };

class NalDepacketizer {
public:
    explicit NalDepacketizer(NalCodec codec) : codec_(codec) {}

    // Errc::malformed, Errc::unsupported: the packet and its frame are lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    std::optional<Frame> poll() { return frames_.poll(); }
    std::uint64_t lost_frames() const { return frames_.lost_frames(); }

private:
    Result<void> read(Bytes payload);
    Result<void> read_aggregate(Bytes units);
    Result<void> read_fragment(Bytes payload);
    // Ends the unit in fragments that has begun, if there is one.
    void end_unit();
    void append_unit(Bytes unit);
    bool may_begin(Bytes payload) const;
    Result<void> push_plain(const Fragment& fragment);

    FrameBuilder frames_;
    std::vector<std::uint8_t> unpacked_;      // the content of the last PACI packet
    std::optional<std::size_t> fragment_at_;  // offset in the frame of the length of the fragmented unit
    NalCodec codec_;
};

// `frame` is NAL units with four-byte lengths; `payload_bytes_max` is at least kPayloadBytesMin. Small adjacent units share a
// packet, a long unit is fragmented. Errc::malformed when the lengths do not fit; nothing is added then.
Result<void> packetize_nal(NalCodec codec, Bytes frame, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
