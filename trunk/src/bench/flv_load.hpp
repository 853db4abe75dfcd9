// Plays a live FLV by HTTP (http://, https://) or WebSocket (ws://, wss://).
#pragma once

#include "bench/load_client.hpp"

namespace live::bench {

class FlvLoad final : public LoadTask {
public:
    // Until the load is stopped or the stream ends. Errors of HttpFetch::get; Errc::malformed when it is no FLV or no WebSocket.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;
};

}  // namespace live::bench
