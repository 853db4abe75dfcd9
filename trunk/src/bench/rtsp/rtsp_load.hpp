// Plays a live stream over RTSP: all of its tracks, in interleaved frames (rtsp://, rtsps://) or over UDP (--udp). One UDP socket
// takes the RTP and RTCP of all tracks.
#pragma once

#include "bench/load/load_client.hpp"

namespace live::bench {

class RtspLoad final : public LoadTask {
public:
    // Over UDP: between two requests that keep the session alive.
    static constexpr std::chrono::seconds kKeepAlive{25};

    // Runs until the load is stopped or the stream ends. Errc::denied for a refusal; Errc::malformed, Errc::timed_out, and the
    // errors of a connection.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;
};

}  // namespace live::bench
