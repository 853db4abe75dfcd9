// Plays a live FLV by HTTP (http://, https://) or WebSocket (ws://, wss://).
#pragma once

#include "bench/load/load_client.hpp"

namespace live::bench {

class FlvLoad final : public LoadTask {
public:
    // Runs until the load is stopped or the stream ends. Errors of HttpFetch::get; Errc::malformed when it is not FLV or not a
    // WebSocket.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;
};

}  // namespace live::bench
