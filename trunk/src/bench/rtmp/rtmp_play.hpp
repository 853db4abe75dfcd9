// Plays a stream by RTMP and parses as little of the input as a load player can: chunk headers and first bytes. If the client
// does not inspect its input (LoadClient::looks), nothing is parsed after play has started.
#pragma once

#include <memory>

#include "bench/load/load_client.hpp"

namespace live::bench {

class RtmpPlay final : public LoadTask {
public:
    // Runs until the load is stopped or the server closes. Errors of open_rtmp; Errc::timed_out if no data arrives for
    // kIdleLimit, Errc::denied if the server ends the stream with an error.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;
};

}  // namespace live::bench
