// The destination of this process's log: a file that is rotated by size and can be reopened, or the console. Written by
// io/files/line_writer.hpp, so that neither a slow disk nor an unread console blocks the loop. Warnings and errors of one kind
// are rate-limited (base/log/log_throttle.hpp); the number of suppressed ones is logged.
//
// A line: [2024-05-06 07:08:09.123][INFO][4321][k3x9q0ab] message
// WARN and ERROR carry [errno] after the id, ERROR ends with the errno's text in parentheses when it has one.
// In JSON: {"time":"2024-05-06T07:08:09.123Z","level":"info","pid":4321,"id":"k3x9q0ab","message":"message"}; a line with an
// errno has `errno` and `error`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log/log.hpp"
#include "base/log/log_throttle.hpp"
#include "base/log/newest_warnings.hpp"
#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/files/line_writer.hpp"
#include "settings/conf/tree.hpp"

namespace live::app {

// The names of levels in a line.
enum class LevelNames : std::uint8_t {
    today,    // TRACE DEBUG INFO WARN ERROR
    classic,  // Verb Info Trace Warn Error
};

// The content of a line, without the sink's colours.
struct LogLine {
    std::chrono::system_clock::time_point time;
    LogLevel level = LogLevel::info;
    int pid = 0;
    std::string_view id;
    std::string_view message;
    int errno_value = 0;
};

struct LogFormat {
    bool utc = false;
    LevelNames names = LevelNames::today;
    // WARN yellow, ERROR red.
    bool colours = false;
    // JSON has neither colours nor classic names, and its times are UTC.
    settings::LogLines lines = settings::LogLines::text;
};

// The line with its newline, at most LogSink::kLineMax bytes in all; a longer message is cut. Control characters, which may come
// from a peer, become '?': C0, DEL, and C1 both as bytes and in UTF-8.
std::string format_log_line(const LogLine& line, const LogFormat& format);

// The configured level: srs_log_level_v2 if set, otherwise srs_log_level, whose "trace" corresponds to info.
LogLevel log_level_of(const settings::LogOptions& options);

// For the log and the access log, from the options.
io::LineWriter::Rotation rotation_of(const settings::LogOptions& options);

class LogFile : public LogSink {
    struct Private {};

public:
    struct Options {
        settings::LogTank tank = settings::LogTank::console;
        std::string path;
        LogLevel level = LogLevel::info;
        bool utc = false;
        LevelNames names = LevelNames::today;
        io::LineWriter::Rotation rotation{};
        settings::LogLines lines = settings::LogLines::text;
    };

    // Opens the file for appending (created with mode 0664 less the umask), or uses the console, and starts the writer's thread.
    // Errc::system when the file cannot be opened.
    static Result<std::unique_ptr<LogFile>> create(Options options);
    LogFile(Private, Options options, std::unique_ptr<io::LineWriter> writer)
        : options_(std::move(options)), writer_(std::move(writer)) {}

    LogLevel level() const override { return options_.level; }
    void write(LogLevel level, std::string_view id, std::string_view message, int errno_value) override;
    bool admits(LogLimit limit, LogPlace place, std::string_view id) override;
    void write_from(LogPlace place, LogLevel level, std::string_view id, std::string_view message, int errno_value) override;
    LogCounters counters() const override;
    std::vector<LoggedWarning> warnings() const override { return {warnings_.lines().begin(), warnings_.lines().end()}; }
    // Reports suppressed lines that no later line has reported. Otherwise this happens periodically.
    void say_left_out() { say_left_out(io::now(), Duration::zero()); }

    // Reopens the path, for a log that was moved away; later lines go there. If that fails, the old file stays in use, and this
    // is logged. No effect on the console.
    void reopen() { writer_->reopen(); }
    io::LineWriter& writer() { return *writer_; }

private:
    void say_left_out(TimePoint now, Duration age);

    Options options_;
    std::unique_ptr<io::LineWriter> writer_;
    LogThrottle throttle_;
    NewestWarnings warnings_;
    TimePoint said_left_out_{};  // time of the last attempt
};

}  // namespace live::app
