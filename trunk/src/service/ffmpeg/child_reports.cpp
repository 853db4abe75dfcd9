#include "service/ffmpeg/child_reports.hpp"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "io/fibers/loop.hpp"

namespace live::service::ffmpeg {

namespace {

constexpr std::size_t kTextPipeBytes = 64U << 10;
constexpr std::size_t kTextBlockBytes = 4096;
constexpr std::chrono::milliseconds kLastLines{300};

template <class OnLine>
void read_lines(io::PipeReader& pipe, io::Deadline deadline, OnLine&& on_line) {
    std::vector<std::uint8_t> block(kTextBlockBytes);
    LineReader lines;
    for (;;) {
        const auto got = pipe.read_some(block, deadline);
        if (!got.ok())
            return;
        lines.read(as_text(Bytes(block).first(*got)), on_line);
    }
}

}  // namespace

Result<ChildReports::Ends> ChildReports::open() {
    auto [log, its_log] = TRY(io::open_pipe_from_child(kTextPipeBytes));
    auto [reports, its_reports] = TRY(io::open_pipe_from_child(kTextPipeBytes));
    log_ = std::move(log);
    reports_ = std::move(reports);
    return Ends{std::move(its_log), std::move(its_reports)};
}

Result<void> ChildReports::start(OnLine on_line, OnProgress on_progress) {
    on_line_ = std::move(on_line);
    on_progress_ = std::move(on_progress);
    TRY(log_reader_.start("child-log", [this](io::Deadline forever) { read_log(forever); }));
    return report_reader_.start("child-report", [this](io::Deadline forever) { read_progress_lines(forever); });
}

void ChildReports::finish() {
    const io::CancelShield shield;
    static_cast<void>(log_reader_.join(io::Deadline::after(kLastLines)));
    static_cast<void>(io::stop_all({&log_reader_, &report_reader_}, io::Deadline::never()));
}

void ChildReports::read_log(io::Deadline deadline) {
    read_lines(log_, deadline, [this](std::string_view line) { on_line_(line); });
}

void ChildReports::read_progress_lines(io::Deadline deadline) {
    read_lines(reports_, deadline, [this](std::string_view line) {
        read_progress(line, progress_);
        if (on_progress_ && line.starts_with("progress="))
            on_progress_(progress_);
    });
}

}  // namespace live::service::ffmpeg
