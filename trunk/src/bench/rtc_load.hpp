// Plays a stream by WHEP, or publishes a clip by WHIP, over ICE, DTLS and SRTP.
#pragma once

#include "bench/load_client.hpp"
#include "bench/rtc_client.hpp"

namespace live::bench {

class RtcLoad final : public LoadTask {
public:
    // Shared by all clients; outlives them.
    explicit RtcLoad(RtcShared& shared) : shared_(shared) {}

    // Until the load is stopped or something fails: as RtcClient::run.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;

private:
    RtcShared& shared_;
};

}  // namespace live::bench
