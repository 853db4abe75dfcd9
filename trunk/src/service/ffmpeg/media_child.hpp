// MediaChild: one run of an ffmpeg that gets the media of a source by a pipe: its process, its pipes and reports, and the watch
// over its outputs. Its owner writes the input and reads the outputs. The outputs are watched, not the process: a child that gets
// media and makes nothing of it for `silence_max` ends. It does not restart: StartPace.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "io/process/child_process.hpp"
#include "io/process/pipe.hpp"
#include "io/process/process_usage.hpp"
#include "service/ffmpeg/child_log.hpp"
#include "service/ffmpeg/child_reports.hpp"
#include "service/ffmpeg/progress.hpp"

namespace live::service::ffmpeg {

class MediaChild {
public:
    static constexpr std::chrono::seconds kSilenceMax{20};
    // A child whose input is this far behind its source gets no more of it before a later key frame, so that a slow child loses
    // frames of its input and never delays the source.
    static constexpr MediaTime kBehindMax = 4s;

    enum class Why : std::uint8_t { cancelled, unwanted, missing, exited, silent, bad_output, refused, new_format };
    struct End {
        Why why = Why::exited;
        std::string text;
        bool had_output = false;
        std::string missing_encoder;
        std::optional<std::size_t> output{};  // the index of the only one that failed
    };
    struct State {
        int pid = 0;
        Progress progress;
        std::uint64_t dropped_packets = 0;  // of the input, because the child is slow
        std::uint64_t output_bytes = 0;
    };
    struct Setup {
        std::string label;  // in the log: "ENC live/cam"
        std::vector<std::string> arguments;
        // In messages about outputs, each of which is watched. With pipes, the child has them after kPassedHandle, in this order.
        std::vector<std::string> outputs{};
        bool is_piped_in = true;
        bool is_piped_out = true;
        bool may_finish = false;  // gets the time to finish a file when it is stopped; otherwise it is killed
        std::chrono::milliseconds silence_max = kSilenceMax;
        std::string log_path{};  // of a file for its log, in addition to ours; may be empty
    };
    // Must be valid until run() returns.
    struct Work {
        std::function<void(io::Deadline)> feed;                                // writes to the input until cancelled
        std::function<void(std::size_t, io::PipeReader&, io::Deadline)> read;  // an output, until it ends
        std::function<void(const Progress& before, const Progress& now)> on_progress{};
        std::function<bool()> is_wanted{};  // checked each second; must not suspend
    };

    MediaChild(Setup setup, Log log)
        : setup_(std::move(setup)), log_(std::move(log)), owed_since_(setup_.outputs.size()), log_file_(setup_.log_path) {}
    MediaChild(const MediaChild&) = delete;
    MediaChild& operator=(const MediaChild&) = delete;

    // Runs the child until it ends, fails or is cancelled; its process has ended then.
    End run(const Work& work, io::Deadline deadline);
    // Ends the run, unless it ends already. `output`: the index of the only one that failed.
    void fail(Why why, std::string text, std::optional<std::size_t> output = {});

    // Sends a part of the input, which is output that the child owes. Does nothing for a child that gets no input.
    Result<void> write(Bytes bytes, io::Deadline deadline);
    // The output with this index has given `bytes` more.
    void note_output(std::size_t index, std::uint64_t bytes);
    bool had_output() const { return end_.had_output; }

    // Counts a packet that the child does not get.
    void drop() { ++state_.dropped_packets; }
    // Logs what the child has not got, with `more` packets that were lost before; called when it gets packets again.
    void log_dropped(std::uint64_t more);

    const State& state() const { return state_; }

private:
    Result<void> start();
    Result<void> start_fibers(const Work& work);
    void watch(const Work& work, io::Deadline deadline);
    void check_outputs();
    void stop();
    void take_line(std::string_view line);
    void write_log();

    const Setup setup_;
    Log log_;
    std::unique_ptr<io::ChildProcess> child_;
    ChildReports reports_;
    io::PipeWriter input_;
    std::vector<io::PipeReader> outputs_;
    std::vector<std::optional<TimePoint>> owed_since_;  // by output: it has got input and has given nothing since
    ChildLog log_file_;
    std::uint64_t dropped_logged_ = 0;
    State state_;
    End end_;
    bool is_over_ = false;
    Signal over_;
    io::Scope feeder_{"child-feeder"};
    io::Scope work_{"media-child"};
};

// The running children of a service, for its metrics.
struct RunningChildren {
    std::uint64_t count = 0;
    io::ProcessUsage usage{};
    void add(const MediaChild::State& child);
};

}  // namespace live::service::ffmpeg
