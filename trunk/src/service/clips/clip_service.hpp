// ClipService: keeps a span around now as a file of its own: a recording of the stream clips/APP/STREAM, which no rule deletes.
// It is made of the stream's recordings, once the one in progress has reached the end of the span; or, for a stream that is not
// recorded as fragmented MP4, of its ring and of what is published up to the end of the span (ring_clip.hpp).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/options_of.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/text/variables.hpp"
#include "base/text/wall_time_text.hpp"
#include "io/fibers/job_list.hpp"
#include "service/clips/clip.hpp"
#include "service/clips/ring_clip.hpp"
#include "service/recordings/playback_source.hpp"
#include "service/recordings/recordings_service.hpp"
#include "service/service.hpp"

namespace live::service::clips {

class ClipJob {
public:
    // The recorder writes each second; a player of the clip waits for it.
    static constexpr std::chrono::milliseconds kPollInterval{250};
    // How long after its end the span may still be written.
    static constexpr std::chrono::seconds kLateMax{5};
    static constexpr std::size_t kReadBytes = 1U << 20;

    ClipJob(const ClipContext& context, Clip clip, Log log) : context_(context), clip_(std::move(clip)), log_(std::move(log)) {}

    void run(io::Deadline deadline);
    // Keeps what is there by now.
    void end() {
        is_ended_ = true;
        ended_.raise();
    }

private:
    Result<void> wait_for_end(io::Deadline deadline);
    Result<void> write(io::Deadline deadline);
    Result<std::vector<recordings::RecordingFile>> choose(io::Deadline deadline);

    const ClipContext& context_;
    Clip clip_;
    Log log_;
    Signal ended_;
    bool is_ended_ = false;
    std::uint64_t bytes_ = 0;
};

class ClipService final : public Service {
public:
    static constexpr std::size_t kJobsMax = 16;
    static constexpr std::chrono::seconds kSpanMax{3'600};
    static constexpr std::chrono::seconds kStopLimit{45};

    // Everything referred to outlives this.
    ClipService(ClipContext context, Log log) : context_(std::move(context)), log_(std::move(log)) {}
    ClipService(const ClipService&) = delete;
    ClipService& operator=(const ClipService&) = delete;

    // Begins a clip of [now - before, now + after), or of what there is of it. Errc::not_found: the stream is neither recorded
    // nor published; Errc::limit: too many at once.
    Result<Clip> begin(const std::string& vhost, const std::string& app, const std::string& stream, MediaTime before,
                       MediaTime after);

    Result<void> stop(io::Deadline) override;
    std::string_view name() const override { return "the clips"; }

private:
    bool is_full() const;
    Result<Clip> begin_from_ring(Clip clip, MediaTime before, MediaTime after);

    const ClipContext context_;
    Log log_;
    io::JobList<ClipJob> jobs_{"clip"};
    io::JobList<RingClip> ring_jobs_{"ring-clip"};
};

}  // namespace live::service::clips
