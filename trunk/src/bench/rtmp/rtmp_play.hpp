// Plays a stream by RTMP and looks at what comes as little as a load player can: chunk headers and first bytes; or, where the
// client does not look (LoadClient::looks), at nothing once play has started.
#pragma once

#include <memory>

#include "bench/load/load_client.hpp"

namespace live::bench {

class RtmpPlay final : public LoadTask {
public:
    // Until the load is stopped or the server closes. Errors of open_rtmp; Errc::timed_out when nothing comes for kIdleLimit,
    // Errc::denied when the server ends the stream with an error.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;
};

}  // namespace live::bench
