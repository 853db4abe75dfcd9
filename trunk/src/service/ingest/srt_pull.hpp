// SrtPull: one ingest of an srt:// input that is copied to a stream of this server: pulled by this server itself, without
// ffmpeg. Keeps calling until it is cancelled; the pauses between calls grow while no data arrives.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "service/ffmpeg/options.hpp"
#include "service/ingest/arguments.hpp"
#include "service/ingest/options.hpp"
#include "session/srt/call/dialler.hpp"

namespace live::service::ingest {

struct SrtPullTarget {
    session::srt::CallUrl from;
    session::ClientRequest to;
};

// Returns nullopt if the ingest needs ffmpeg: another kind of input, an engine that transcodes or has its own options, an
// output that is not RTMP to this server, or an address that parse_call_url() rejects.
std::optional<SrtPullTarget> srt_pull_target(const IngestOptions& ingest, const ffmpeg::EngineOptions& engine,
                                             const IngestPlace& place);

class SrtPull {
public:
    struct Timing {
        std::string name;  // "vhost/id"
        std::chrono::milliseconds retry_first{};
        std::chrono::milliseconds retry_max{};
        // A pull that lasted this long makes the next pause short again.
        std::chrono::milliseconds good_after{};
    };

    SrtPull(session::srt::Dialler& dialler, SrtPullTarget target, Timing timing, Log log);
    // Until cancelled.
    void run(io::Deadline deadline);

private:
    session::srt::Dialler* dialler_;
    SrtPullTarget target_;
    Timing timing_;
    Log log_;
};

}  // namespace live::service::ingest
