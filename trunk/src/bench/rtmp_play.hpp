// Plays a stream over RTMP and looks at as little as a load player can: chunk headers and first bytes.
#pragma once

#include <memory>

#include "bench/load_client.hpp"

namespace live::bench {

class RtmpPlay final : public LoadTask {
public:
    // at_nothing: looks at nothing once play has started.
    enum class Look : bool { at_messages, at_nothing };

    explicit RtmpPlay(Look look) : look_(look) {}

    // Runs until the load is stopped or the server closes. Errors of open_rtmp; Errc::timed_out when nothing arrives for
    // kIdleLimit, Errc::denied when the server ends the stream with an error.
    Result<void> run(LoadClient& client, io::Deadline deadline) override;

private:
    Look look_;
};

}  // namespace live::bench
