// LadderChild: one run of the ffmpeg that encodes the renditions of a stream. It gets the source's video by a pipe, and each
// rendition comes back by a pipe of its own and joins the source as a track. A rendition that gives nothing ends the run.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/process/pipe.hpp"
#include "media/ingest/rendition.hpp"
#include "media/source/cursor.hpp"
#include "service/ffmpeg/media_child.hpp"
#include "service/ladder/child_feed.hpp"
#include "service/ladder/child_output.hpp"
#include "service/ladder/key_times.hpp"
#include "service/ladder/plan.hpp"

namespace live::service::ladder {

class LadderChild {
public:
    // Frames of one rendition that wait for the first ones of another.
    static constexpr std::size_t kPendingMax = 1024;
    // Frames that a child may hold back. One that holds more and is late gets no more until it has caught up.
    static constexpr std::uint64_t kHeldMax = 64;
    // The times of FLV wrap after 24.8 days.
    static constexpr MediaTime kAgeMax = std::chrono::hours(24 * 20);

    using MediaChild = ffmpeg::MediaChild;
    struct Setup {
        std::string url;  // of the source
        std::vector<std::string> arguments;
        std::vector<Rung> rungs;
        media::Packet config;  // of the source's video
        media::Packet begin;   // the key frame that the child begins with
        std::chrono::milliseconds silence_max = MediaChild::kSilenceMax;
        std::function<bool()> is_wanted{};  // checked each second; must not suspend
        std::string log_path{};             // see MediaChild
    };

    // `cursor` is behind setup.begin, and outlives this.
    LadderChild(const Setup& setup, media::Cursor& cursor, Log log);
    LadderChild(const LadderChild&) = delete;
    LadderChild& operator=(const LadderChild&) = delete;

    // Runs the child until it ends or is cancelled; its process has ended then. `had_output`: frames of each rendition.
    MediaChild::End run(io::Deadline deadline);
    const MediaChild::State& state() const { return child_.state(); }

private:
    struct Output {
        explicit Output(ChildOutput its_reader) : reader(std::move(its_reader)) {}
        ChildOutput reader;
        std::unique_ptr<media::Rendition> rendition;
        std::vector<wire::codec::Frame> pending;  // until all renditions after it have begun
        bool has_frames = false;
        std::uint64_t frames = 0;
        MediaTime newest{};
    };

    void feed(io::Deadline deadline);
    bool is_left_out(const media::Packet& packet);
    void write(const media::Packet& frame, ByteWriter& out);
    bool is_slow() const;
    void read(std::size_t index, io::PipeReader& pipe, io::Deadline deadline);
    Result<void> take(Output& output, std::vector<wire::codec::Frame>& frames);
    Result<void> begin_renditions();

    const media::Packet begin_;
    const std::function<bool()> is_wanted_;
    media::Cursor& cursor_;
    KeyTimes keys_;
    ChildFeed feed_;
    MediaChild child_;
    std::vector<std::string> names_;  // of the renditions
    std::vector<Output> outputs_;
    std::size_t begun_ = 0;  // outputs that have a rendition
    bool skips_ = false;     // until a key frame in time
    std::uint64_t fed_ = 0;  // frames
    MediaTime newest_fed_{};
};

}  // namespace live::service::ladder
