// The log front end: a Log is a small value that holds a session ID and a sink. It is passed in, never looked up, so a line gets
// its session ID without asking the fiber. This header includes no formatting library; .cpp files include base/log/log_format.hpp
// for the LOG_* macros.
//
// Line format: [2024-05-06 07:08:09.123][INFO][4321][k3x9q0ab] message. WARN and ERROR add [errno] after the ID, and ERROR ends
// with the errno text in parentheses. Lines are truncated to kLineMax bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace live {

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };

// The bound on lines of one kind: none, one for each client, or one for each client and one for all of them together.
enum class LogLimit : std::uint8_t { none, of_client, of_all };

// A code location that writes log lines. It distinguishes kinds of lines; nullptr: unspecified.
using LogPlace = const void*;

// Outcome counters of lines submitted for writing.
struct LogCounters {
    std::uint64_t left_out = 0;    // suppressed: too many of their kind
    std::uint64_t lost = 0;        // not accepted by the disk or the console, or not in time
    std::size_t memory_bytes = 0;  // held by lines waiting to be written
};

// A warning or an error that was logged.
struct LoggedWarning {
    std::chrono::system_clock::time_point time;  // of the last one
    LogLevel level = LogLevel::warn;
    std::string id;
    std::string text;
    std::uint64_t times = 1;
};

// Destination of log lines. Implemented by the process (file, console), by tests, and as a null sink.
class LogSink {
public:
    static constexpr std::size_t kLineMax = 8192;

    virtual ~LogSink() = default;
    virtual LogLevel level() const = 0;
    virtual void write(LogLevel level, std::string_view id, std::string_view message, int errno_value) = 0;
    // Whether one more line from this place and client may be written, where it has a limit. Called before the line is formatted.
    virtual bool admits(LogLimit, LogPlace, std::string_view) { return true; }
    // Writes an admitted line.
    virtual void write_from(LogPlace, LogLevel level, std::string_view id, std::string_view message, int errno_value) {
        write(level, id, message, errno_value);
    }
    virtual LogCounters counters() const { return {}; }
    // The newest ones, the oldest first.
    virtual std::vector<LoggedWarning> warnings() const { return {}; }
};

class Log {
public:
    // Discards everything.
    Log() = default;
    Log(LogSink& sink, std::string id) : sink_(&sink), id_(std::move(id)) {}

    bool enabled(LogLevel level) const { return sink_ != nullptr && level >= sink_->level(); }
    void write(LogLevel level, std::string_view message, int errno_value = 0) const {
        if (enabled(level))
            sink_->write(level, id_, message, errno_value);
    }
    // For the macros, when the level is enabled.
    bool admits(LogLimit limit, LogPlace place) const { return limit == LogLimit::none || sink_->admits(limit, place, id_); }
    void write_from(LogPlace place, LogLevel level, std::string_view message) const {
        sink_->write_from(place, level, id_, message, 0);
    }
    LogCounters counters() const { return sink_ == nullptr ? LogCounters() : sink_->counters(); }
    std::vector<LoggedWarning> warnings() const { return sink_ == nullptr ? std::vector<LoggedWarning>() : sink_->warnings(); }
    const std::string& id() const { return id_; }
    // The same sink for another session.
    Log with_id(std::string id) const {
        Log other(*this);
        other.id_ = std::move(id);
        return other;
    }

private:
    LogSink* sink_ = nullptr;
    std::string id_;
};

}  // namespace live
