// Audio in RTP: Opus (RFC 7587) and G.711 (RFC 3551, 4.5.14). A packet is a frame, so there is nothing to put together; what is
// left is how long a packet lasts.
#pragma once

#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

// Samples at 48 kHz in one Opus packet, 120 to 5,760 (RFC 6716, 3). Errc::need_more when its head is cut, Errc::malformed when it
// lasts longer than 120 ms or has no frame.
Result<std::uint32_t> opus_samples(Bytes packet);

// G.711 has one byte a sample at 8 kHz; a packet shall hold 20 ms.
inline constexpr std::size_t kG711PacketBytes = 160;
void packetize_g711(Bytes samples, PayloadList& out);

}  // namespace live::wire::rtp_payload
