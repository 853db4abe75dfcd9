// Audio in RTP: Opus (RFC 7587) and G.711 (RFC 3551, 4.5.14). A packet is a frame, so no reassembly is needed, only the duration
// of a packet.
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

using codec::opus_samples;

// G.711 has one byte per sample at 8 kHz; 20 ms per packet.
inline constexpr std::size_t kG711PacketBytes = 160;
void packetize_g711(Bytes samples, PayloadList& out);

}  // namespace live::wire::rtp_payload
