// Finds where each track of a log of interleaved frames begins, whose bytes come in spans: its first RTP packet, and the sender
// report before it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <sys/uio.h>

namespace live::session::rtsp {

struct FirstPacket {
    std::uint8_t channel = 0;                 // of RTP
    std::optional<std::uint16_t> sequence{};  // nullopt: there is only a report
    // At the time of the report, which is the same for all tracks of one place; without one, of the packet.
    std::uint32_t timestamp = 0;

    bool operator==(const FirstPacket&) const = default;
};

// The spans begin with a frame. Channels with odd numbers have RTCP. Ends when `tracks` of them are complete.
std::vector<FirstPacket> first_packets(std::span<const ::iovec> spans, std::size_t tracks);

}  // namespace live::session::rtsp
