// RTP, RTCP, STUN and DTLS over a byte stream: each datagram behind its length in two bytes (RFC 4571, 2; RFC 6544 for ICE).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::rtp {

inline constexpr std::size_t kFrameHeadBytes = 2;
inline constexpr std::size_t kFrameBytesMax = 2'048;  // of the datagram; a length allows more, nobody needs it

// Cuts a byte stream into datagrams again.
class StreamUnframer {
public:
    // Takes all of it; call next() until there is none before the next feed(). Errc::limit for a longer frame than
    // kFrameBytesMax: what follows cannot be read.
    Result<void> feed(Bytes input);
    // May be decrypted in place; valid until the next call of feed(). Empty frames are left out.
    std::optional<MutBytes> next();
    std::size_t waiting_bytes() const { return buffer_.size() - at_; }

private:
    Result<void> check() const;

    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0;
};

// Appends one frame. The datagram is at most 65,535 bytes.
void write_frame(std::vector<std::uint8_t>& out, Bytes datagram);

}  // namespace live::wire::rtp
