// RTP, RTCP, STUN and DTLS over a byte stream: each datagram is preceded by its two-byte length (RFC 4571, 2; RFC 6544 for ICE).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::wire::rtp {

inline constexpr std::size_t kFrameHeadBytes = 2;
inline constexpr std::size_t kFrameBytesMax = 2'048;  // of a datagram; the length field allows more, which is not needed

// Splits a byte stream into datagrams.
class StreamUnframer {
public:
    // Consumes all of the input; call next() until it returns nullopt before the next feed(). Errc::limit for a frame longer than
    // kFrameBytesMax: the rest of the stream is unreadable.
    Result<void> feed(Bytes input);
    // May be decrypted in place; valid until the next feed(). Empty frames are skipped.
    std::optional<MutBytes> next();
    std::size_t waiting_bytes() const { return buffer_.size() - at_; }

private:
    Result<void> check() const;

    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0;
};

// Appends one frame. The datagram may have at most 65,535 bytes.
void write_frame(std::vector<std::uint8_t>& out, Bytes datagram);

}  // namespace live::wire::rtp
