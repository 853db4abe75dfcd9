// Where this process writes its log: a file that can be reopened, or the console. One line is one write(2), so lines of several
// processes do not mix. It rotates nothing: a rotation program moves the file and asks for reopen().
// Warnings and errors of one kind are bounded (base/log_throttle.hpp); what was left out is said.
//
// A line: [2024-05-06 07:08:09.123][INFO][4321][k3x9q0ab] message
// WARN and ERROR carry [errno] behind the id, ERROR ends with the errno's text in parentheses when it has one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/log_throttle.hpp"
#include "base/result.hpp"
#include "io/append_file.hpp"
#include "io/deadline.hpp"
#include "io/sanitizer_reports.hpp"
#include "main/settings_tree.hpp"

namespace live::main_ {

// Which names a level has in a line.
enum class LevelNames : std::uint8_t {
    today,    // TRACE DEBUG INFO WARN ERROR
    classic,  // Verb Info Trace Warn Error
};

// Everything of one line but the sink's colours.
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
};

// The line with its newline, at most LogSink::kLineMax bytes in all; a longer message is cut. Control characters, which a peer
// may have put into a name, become '?': C0, DEL, and C1 both as bytes and in UTF-8.
std::string format_log_line(const LogLine& line, const LogFormat& format);

// The level that the options ask for: srs_log_level_v2 when it is said, else srs_log_level, whose "trace" is today's info.
LogLevel log_level_of(const LogOptions& options);

class LogFile : public LogSink {
    struct Private {};

public:
    struct Options {
        LogTank tank = LogTank::console;
        std::string path;
        LogLevel level = LogLevel::info;
        bool utc = false;
        LevelNames names = LevelNames::today;
    };

    // Opens the file for appending (made 0664 less the umask), or takes the console. Errc::system when the file cannot be opened.
    static Result<std::unique_ptr<LogFile>> create(Options options);
    LogFile(Private, Options options);

    LogLevel level() const override { return options_.level; }
    void write(LogLevel level, std::string_view id, std::string_view message, int errno_value) override;
    bool admits(LogPlace place, std::string_view id) override;
    void write_from(LogPlace place, LogLevel level, std::string_view id, std::string_view message, int errno_value) override;
    LogCounters counters() const override { return {throttle_.left_out(), lost_}; }
    // What was left out and could not be said with a later line, because there was none. Otherwise said from time to time.
    void say_left_out() { say_left_out(io::now(), Duration::zero()); }

    // Opens the path again, for a log that was moved away. On an error the old file goes on being used. Nothing on the console.
    Result<void> reopen();

private:
    void say_left_out(TimePoint now, Duration age);

    Options options_;
    io::AppendFile file_;
    io::SanitizerReports reports_;
    LogThrottle throttle_;
    TimePoint said_left_out_{};  // when that was last tried
    std::uint64_t lost_ = 0;     // lines that could not be written, such as on a full disk
};

}  // namespace live::main_
