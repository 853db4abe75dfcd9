// Classifies a datagram on the shared WebRTC port by its first bytes (RFC 7983, 7).
#pragma once

#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "wire/rtp/packet.hpp"
#include "wire/stun/message.hpp"

namespace live::engine::webrtc {

enum class DatagramKind : std::uint8_t { stun, dtls, rtp, rtcp, other };

inline DatagramKind kind_of(Bytes datagram) {
    constexpr std::size_t kDtlsRecordHead = 13;
    if (wire::stun::looks_like_stun(datagram))
        return DatagramKind::stun;
    if (datagram.size() >= kDtlsRecordHead && datagram[0] >= 20 && datagram[0] <= 63)
        return DatagramKind::dtls;
    if (wire::rtp::looks_like_rtcp(datagram))
        return DatagramKind::rtcp;
    if (wire::rtp::looks_like_rtp(datagram) && datagram.size() >= wire::rtp::kHeaderBytes)
        return DatagramKind::rtp;
    return DatagramKind::other;
}

}  // namespace live::engine::webrtc
