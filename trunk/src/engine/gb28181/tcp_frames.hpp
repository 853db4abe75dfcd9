// TcpFrames: splits a TCP connection of a GB28181 device into RTP packets (RFC 4571, 2: a two-byte length before each). Devices
// that restart in the middle of a packet, or send other bytes between packets, are found again by the SSRC. Dry.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::gb28181 {

class TcpFrames {
public:
    // The bytes in which the next packet must be found.
    static constexpr std::size_t kSkippedBytesMax = 256U << 10;
    // The longest packet that the length can state.
    static constexpr std::size_t kPacketBytesMax = 0xFFFF;

    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t resyncs = 0;
        std::uint64_t skipped_bytes = 0;
    };

    // Call next() until it returns nullopt before the next feed(). Errc::malformed: the first bytes are no RTP, or a packet was
    // not found again; the rest of the connection is unreadable.
    Result<void> feed(Bytes input);
    // RTP or RTCP, valid until the next feed().
    std::optional<Bytes> next();
    // Bytes were skipped before the packet that next() has returned.
    bool follows_gap() const { return follows_gap_; }
    // From now on RTP packets of another SSRC are bytes to skip.
    void set_ssrc(std::uint32_t ssrc) { ssrc_ = ssrc; }

    const Counters& counters() const { return counters_; }
    std::size_t held_bytes() const { return buffer_.size() - at_; }

private:
    enum class Found : std::uint8_t { yes, no, unknown };

    Found packet_at(std::size_t at) const;
    Result<void> sync();

    std::vector<std::uint8_t> buffer_;
    std::size_t at_ = 0;
    std::optional<std::uint32_t> ssrc_;
    std::size_t skipped_ = 0;  // in search of the next packet
    bool follows_gap_ = false;
    Counters counters_;
};

}  // namespace live::engine::gb28181
