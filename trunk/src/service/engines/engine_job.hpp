// EngineJob: keeps one engine of one published stream running, or several that share an ffmpeg: starts it when the stream has a
// key frame, and starts it again after a pause when it has ended. Pauses grow while it fails, and a stream has at most 10 starts
// per minute. If one of several engines fails, the job waits: its owner ends it, and runs that engine by itself.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/cursor.hpp"
#include "media/source/source.hpp"
#include "service/engines/engine_child.hpp"
#include "service/engines/plan.hpp"
#include "service/ffmpeg/media_child.hpp"
#include "service/ffmpeg/start_limit.hpp"
#include "service/ffmpeg/start_pace.hpp"
#include "service/ingest/demand.hpp"

namespace live::service::engines {

struct EngineTiming {
    std::chrono::milliseconds restart_first = 3s;
    std::chrono::milliseconds restart_max = 60s;
    std::chrono::milliseconds good_after = 20s;  // see StartPace
    std::chrono::milliseconds silence_max = ffmpeg::MediaChild::kSilenceMax;
    std::chrono::milliseconds report_interval = 10s;
};

// Why children ended, for the metrics.
enum class Restart : std::uint8_t { exited, silent, refused, format, missing };
inline constexpr std::size_t kRestartReasons = 5;
using RestartCounts = std::array<std::uint64_t, kRestartReasons>;

class EngineJob {
public:
    enum class Phase : std::uint8_t { waiting, running, pausing, idle };
    struct State {
        Phase phase = Phase::waiting;
        std::uint64_t starts = 0;
        RestartCounts restarts{};
        std::string last_end;
        std::uint64_t dropped_packets = 0;
        std::vector<std::size_t> failed;  // indices of the engines that must not share an ffmpeg
    };
    struct Setup {
        Ref<media::Source> source;
        std::vector<Engine> engines;  // one at least
        Input input;
        Place place;
        std::vector<std::string> own_urls;            // by engine: of the source that its output publishes; may be empty
        std::shared_ptr<ffmpeg::StartLimit> limit;    // owners: the service and the engines of the stream
        std::shared_ptr<ingest::Demand> demand{};     // nullptr: it always runs. Owners: the service, this, waiting clients
        std::optional<session::StreamPlan> hidden{};  // of the output: see EnginePublisher
    };

    EngineJob(Setup setup, EngineTiming timing, PublishContext publish, Log log);

    // Until cancelled.
    void run(io::Deadline deadline);

    const std::string& url() const { return setup_.source->url(); }
    const Setup& setup() const { return setup_; }
    const State& state() const { return state_; }
    // The state of the running child; nullptr without one.
    const ffmpeg::MediaChild::State* child() const { return child_ ? &child_->state() : nullptr; }
    // Returns the bytes that the running child has given for this engine; 0 without one.
    std::uint64_t output_bytes(std::size_t index) const { return child_ ? child_->output_bytes(index) : 0; }

private:
    bool is_wanted() const;
    bool wait_for_demand(io::Deadline deadline);
    // Runs one child. nullopt: cancelled, or nobody plays.
    std::optional<ffmpeg::MediaChild::End> run_once(media::Cursor::Start start, io::Deadline deadline);
    std::optional<ffmpeg::MediaChild::End> run_child(MediaFeed& feed, media::Cursor& cursor, io::Deadline deadline);
    bool wait_for_beginning(MediaFeed& feed, media::Cursor& cursor, io::Deadline deadline);
    std::vector<std::size_t> failed_in(const ffmpeg::MediaChild::End& end) const;
    void note_end(const ffmpeg::MediaChild::End& end);
    std::string label() const;

    const Setup setup_;
    const EngineTiming timing_;
    const PublishContext publish_;
    Log log_;
    ffmpeg::StartPace pace_;
    State state_;
    bool missing_logged_ = false;
    std::unique_ptr<EngineChild> child_;
    std::size_t silent_outputs_ = 0;  // of the last child: those that have given nothing
};

}  // namespace live::service::engines
