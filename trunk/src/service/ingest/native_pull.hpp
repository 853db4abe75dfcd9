// NativePull: one ingest of an input that is copied to a stream of this server: pulled by this server itself, without ffmpeg.
// Keeps calling until it is cancelled; the pauses between calls grow while no data arrives.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "service/ffmpeg/options.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/options.hpp"
#include "session/common/admission.hpp"

namespace live::service::ingest {

// The stream that ffmpeg would publish. Returns nullopt if the ingest needs ffmpeg: another kind of input, an engine that
// transcodes or has its own options, or an output that is not RTMP to this server. Scheme and kind of the client are not set.
std::optional<session::ClientRequest> copied_stream(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                                    const IngestPlace& place);

class NativePull {
public:
    struct Timing {
        std::string name;  // "vhost/id"
        std::chrono::milliseconds retry_first{};
        std::chrono::milliseconds retry_max{};
        // A pull that lasted this long makes the next pause short again.
        std::chrono::milliseconds good_after{};
    };
    // Pulls until it ends, and returns the reason.
    using Call = std::function<Result<void>(session::ClientRequest to, const Log& log, io::Deadline deadline)>;

    // `label` is the input without secrets, for the log.
    NativePull(Call call, std::string label, session::ClientRequest to, Timing timing, Log log);
    // Until cancelled.
    void run(io::Deadline deadline);

private:
    Call call_;
    std::string label_;
    session::ClientRequest to_;
    Timing timing_;
    Log log_;
};

}  // namespace live::service::ingest
