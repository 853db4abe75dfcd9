// Audio in RTP: Opus (RFC 7587) and G.711 (RFC 3551, 4.5.14). A packet is a frame, so no reassembly is needed, only the duration
// of a packet.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

// Samples at 48 kHz in one Opus packet, 120 to 5,760 (RFC 6716, 3). Errc::need_more when its header is truncated, Errc::malformed
// when it is longer than 120 ms or has no frame.
Result<std::uint32_t> opus_samples(Bytes packet);

// G.711 has one byte per sample at 8 kHz; 20 ms per packet.
inline constexpr std::size_t kG711PacketBytes = 160;
void packetize_g711(Bytes samples, PayloadList& out);

}  // namespace live::wire::rtp_payload
