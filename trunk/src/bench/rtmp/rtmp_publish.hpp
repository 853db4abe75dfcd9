// Publishes a clip over RTMP, round after round with rising timestamps, which set the pace.
#pragma once

#include "bench/clips/flv_clip.hpp"
#include "bench/load/load_client.hpp"

namespace live::bench {

class RtmpPublish final : public LoadTask {
public:
    // The clip is shared by all publishers and outlives them.
    explicit RtmpPublish(const FlvClip& clip) : clip_(clip) {}

    // Runs until the load is stopped or the server closes. Errors of open_rtmp; Errc::denied when the server ends the stream, or
    // Errc::timed_out when it reads nothing for kIdleLimit.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;

private:
    const FlvClip& clip_;
};

}  // namespace live::bench
