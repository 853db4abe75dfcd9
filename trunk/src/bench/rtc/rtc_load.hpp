// Plays a stream over WHEP, or publishes a clip over WHIP, over ICE, DTLS and SRTP.
#pragma once

#include "bench/load/load_client.hpp"
#include "bench/rtc/rtc_client.hpp"

namespace live::bench {

class RtcLoad final : public LoadTask {
public:
    // Shared by all clients; outlives them.
    explicit RtcLoad(RtcShared& shared) : shared_(shared) {}

    // Runs until the load is stopped or an error: as RtcClient::run.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;

private:
    RtcShared& shared_;
};

}  // namespace live::bench
