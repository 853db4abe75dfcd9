// Finds the first RTP packet of each channel in a log of interleaved frames, whose bytes come in spans.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sys/uio.h>

namespace live::session::rtsp {

struct FirstPacket {
    std::uint8_t channel = 0;
    std::uint16_t sequence = 0;
    std::uint32_t timestamp = 0;

    bool operator==(const FirstPacket&) const = default;
};

// The spans begin with a frame. Channels with odd numbers have RTCP and are left out.
std::vector<FirstPacket> first_packets(std::span<const ::iovec> spans);

}  // namespace live::session::rtsp
