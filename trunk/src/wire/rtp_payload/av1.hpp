// AV1 in RTP, both directions ("RTP Payload Format For AV1", AOMedia, section 4): OBUs without size fields, several per packet or
// one across several packets.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"
#include "wire/rtp_payload/frame_builder.hpp"

namespace live::wire::rtp_payload {

class Av1Depacketizer {
public:
    // Errc::need_more, Errc::malformed: the packet and its frame are lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    std::optional<Frame> poll() { return frames_.poll(); }
    std::uint64_t lost_frames() const { return frames_.lost_frames(); }

private:
    Result<void> read(Bytes payload);
    Result<void> take_element(Bytes element, bool continues, bool goes_on);
    Result<void> append_obu(Bytes obu);

    FrameBuilder frames_;
    std::vector<std::uint8_t> open_obu_;  // received part of an OBU that spans several packets
    bool is_inside_ = false;
};

// `frame` is OBUs with size fields; temporal delimiters, tile lists and padding are dropped (section 5). Errc::malformed for
// invalid OBUs; nothing is added then.
Result<void> packetize_av1(Bytes frame, std::size_t payload_bytes_max, PayloadList& out);

}  // namespace live::wire::rtp_payload
