// LadderChild: one run of the ffmpeg that encodes the renditions of a stream. It gets the source's video by a pipe, and each
// rendition comes back by a pipe of its own and joins the source as a track. Its output is watched, not its process: a rendition
// that gives nothing for kSilenceMax ends the run. A slow child loses frames of its input and never delays the source.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "io/process/child_process.hpp"
#include "io/process/pipe.hpp"
#include "media/ingest/rendition.hpp"
#include "media/source/cursor.hpp"
#include "service/ffmpeg/progress.hpp"
#include "service/ladder/child_feed.hpp"
#include "service/ladder/child_output.hpp"
#include "service/ladder/key_times.hpp"
#include "service/ladder/plan.hpp"

namespace live::service::ladder {

class LadderChild {
public:
    static constexpr std::chrono::seconds kSilenceMax{20};
    // The input is this far behind the source at most: then it continues at a later key frame.
    static constexpr MediaTime kBehindMax = 4s;
    // Frames of one rendition that wait for the first ones of another.
    static constexpr std::size_t kPendingMax = 1024;
    // The times of FLV wrap after 24.8 days.
    static constexpr MediaTime kAgeMax = std::chrono::hours(24 * 20);

    struct Setup {
        std::string url;  // of the source
        std::vector<std::string> arguments;
        std::vector<Rung> rungs;
        media::Packet config;  // of the source's video
        media::Packet begin;   // the key frame that the child begins with
        std::chrono::milliseconds silence_max = kSilenceMax;
    };
    struct End {
        enum class Why : std::uint8_t { cancelled, missing, failed, new_format };
        Why why = Why::failed;
        std::string text;
        bool had_frames = false;  // of each rendition
        std::string missing_encoder;
    };
    struct State {
        int pid = 0;
        ffmpeg::Progress progress;
        std::uint64_t dropped_packets = 0;  // of the input, because the child is slow
        std::uint64_t output_bytes = 0;
    };

    // `cursor` is behind setup.begin, and outlives this.
    LadderChild(Setup setup, media::Cursor& cursor, Log log);
    LadderChild(const LadderChild&) = delete;
    LadderChild& operator=(const LadderChild&) = delete;

    // Runs the child until it ends or is cancelled; its process has ended then.
    End run(io::Deadline deadline);
    const State& state() const { return state_; }

private:
    struct Output {
        explicit Output(io::PipeReader its_pipe, ChildOutput its_reader)
            : pipe(std::move(its_pipe)), reader(std::move(its_reader)) {}
        io::PipeReader pipe;
        ChildOutput reader;
        std::unique_ptr<media::Rendition> rendition;
        std::vector<wire::codec::Frame> pending;  // until all renditions after it have begun
        std::optional<TimePoint> owes_since;      // it has got input and has given nothing since
        bool has_frames = false;
    };

    Result<void> start();
    Result<void> start_fibers();
    void watch(io::Deadline deadline);
    void stop();
    void feed(io::Deadline deadline);
    Result<void> send(ByteWriter& out, io::Deadline deadline);
    bool is_left_out(const media::Packet& packet);
    void read(Output& output, io::Deadline deadline);
    Result<void> take(Output& output, std::vector<wire::codec::Frame>& frames);
    Result<void> begin_renditions();
    void read_lines(io::Deadline deadline);
    void read_reports(io::Deadline deadline);
    void fail(End::Why why, std::string text);

    Setup setup_;
    media::Cursor& cursor_;
    Log log_;
    KeyTimes keys_;
    ChildFeed feed_;
    std::unique_ptr<io::ChildProcess> child_;
    io::PipeWriter input_;
    io::PipeReader lines_;
    io::PipeReader reports_;
    std::vector<std::unique_ptr<Output>> outputs_;
    std::size_t begun_ = 0;  // outputs that have a rendition
    bool skips_ = false;     // until a key frame in time
    State state_;
    End end_;
    bool is_over_ = false;
    Signal over_;
    io::Scope work_{"ladder"};
    io::Scope log_reader_{"ladder-log"};
};

}  // namespace live::service::ladder
