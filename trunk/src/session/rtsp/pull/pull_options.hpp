// How one camera is pulled.
#pragma once

#include <cstdint>

namespace live::io {
class TlsContext;
}

namespace live::session::rtsp {

struct PullOptions {
    // automatic: UDP, and the connection if nothing arrives.
    enum class Transport : std::uint8_t { automatic, udp, tcp };

    Transport transport = Transport::automatic;
    // UDP: packets may come from any port of the camera's address.
    bool any_port = false;
    // Further tracks of audio and video, and those of data, for RTSP players.
    bool all_tracks = false;
    // UDP ports of this end. 0: the system chooses.
    std::uint16_t port_min = 0;
    std::uint16_t port_max = 0;
    // Set by a pull whose packets came in the connection only; the next one does not try UDP first.
    bool udp_failed = false;
    // For rtsps://; outlives the pull. nullptr: TLS is not available.
    io::TlsContext* tls = nullptr;
};

}  // namespace live::session::rtsp
