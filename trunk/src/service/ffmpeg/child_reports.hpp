// ChildReports: what an ffmpeg child writes about itself: the lines of its log, and its progress (-progress pipe:3).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/fibers/scope.hpp"
#include "io/process/pipe.hpp"
#include "service/ffmpeg/progress.hpp"

namespace live::service::ffmpeg {

class ChildReports {
public:
    using OnLine = std::function<void(std::string_view)>;
    using OnProgress = std::function<void(const Progress&)>;
    // To be passed to the child as its standard error, and as kPassedHandle.
    struct Ends {
        io::ChildEnd log;
        io::ChildEnd progress;
    };

    // Opens the pipes.
    Result<Ends> open();
    // Reads until finish(). Both functions must not suspend.
    Result<void> start(OnLine on_line, OnProgress on_progress = {});
    // After the end of the child: reads the rest of its log, for a moment, and stops.
    void finish();

    const Progress& progress() const { return progress_; }

private:
    void read_log(io::Deadline deadline);
    void read_progress_lines(io::Deadline deadline);

    io::PipeReader log_;
    io::PipeReader reports_;
    OnLine on_line_;
    OnProgress on_progress_;
    Progress progress_;
    io::Scope log_reader_{"child-log"};
    io::Scope report_reader_{"child-report"};
};

}  // namespace live::service::ffmpeg
