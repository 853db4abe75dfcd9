// Options for the RTMP connections of one virtual host: plain values with their defaults. Names and bounds of the conf file are
// in session/rtmp/option_rows.hpp.
#pragma once

#include <cstdint>

namespace live::session::rtmp {

struct RtmpOptions {
    // Payload bytes of each chunk we send. The loader copies the root's value into a virtual host without its own.
    std::uint32_t chunk_size = 60'000;
    // The acknowledgement window assumed for a peer that never sets one; 0: no window.
    std::uint32_t in_ack_size = 0;
    // The acknowledgement window we request from a peer; 0 requests none.
    std::uint32_t out_ack_size = 2'500'000;
    bool tcp_nodelay = false;
    // Players are woken by every packet, and the publisher's merged read is off.
    bool min_latency = false;
    // Encoders must prove a name and a password at connect (authmod=adobe), where players need not.
    bool challenge = false;
};

}  // namespace live::session::rtmp
