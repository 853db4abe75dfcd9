// EngineChild: one run of the ffmpeg of an engine, or of several engines that share it. It gets the source's media by a pipe,
// unless it plays it by RTMP; its outputs return by pipes and are published, or its only one goes to its own destination, and its
// progress is its output then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "io/fibers/deadline.hpp"
#include "io/process/pipe.hpp"
#include "media/source/cursor.hpp"
#include "service/engines/engine_publisher.hpp"
#include "service/engines/media_feed.hpp"
#include "service/engines/plan.hpp"
#include "service/ffmpeg/media_child.hpp"
#include "service/ffmpeg/progress.hpp"

namespace live::service::engines {

class EngineChild {
public:
    using MediaChild = ffmpeg::MediaChild;
    struct Setup {
        std::string label;  // of the stream and the engines, in the log
        Command command;
        std::vector<std::string> names;  // of the outputs, in messages
        bool makes_images = false;
        std::chrono::milliseconds silence_max = MediaChild::kSilenceMax;
        std::optional<session::StreamPlan> hidden{};  // of the output: see EnginePublisher
        std::function<bool()> is_wanted{};            // checked each second; must not suspend
        std::string log_path{};                       // see MediaChild
    };

    // `feed` has begun, and `cursor` is behind it. All outlive this.
    EngineChild(Setup setup, MediaFeed& feed, media::Cursor& cursor, PublishContext publish, const Log& log);
    EngineChild(const EngineChild&) = delete;
    EngineChild& operator=(const EngineChild&) = delete;

    // Runs the child until it ends or is cancelled; its process has ended then.
    MediaChild::End run(io::Deadline deadline);
    const MediaChild::State& state() const { return child_.state(); }
    // Returns the bytes that this output has given.
    std::uint64_t output_bytes(std::size_t index) const { return bytes_[index]; }

private:
    void feed(io::Deadline deadline);
    void take_input();
    bool is_left_out(const media::Packet& packet);
    void note_output(std::size_t index, std::uint64_t bytes);
    void publish(std::size_t index, io::PipeReader& output, io::Deadline deadline);
    void take_progress(const ffmpeg::Progress& before, const ffmpeg::Progress& now);

    const Setup setup_;
    MediaFeed& feed_;
    media::Cursor& cursor_;
    const PublishContext publish_;
    const Log& log_;
    MediaChild child_;
    std::vector<std::uint64_t> bytes_;  // by output
};

}  // namespace live::service::engines
