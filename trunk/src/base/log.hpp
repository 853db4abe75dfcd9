// The log front end: a Log is a small value that knows its session's id and where lines go. It is handed in, never looked up, so
// a line knows its session without asking the fiber. This header carries no formatting library; .cpp files include
// base/log_format.hpp for the LOG_* macros.
//
// A line: [2024-05-06 07:08:09.123][INFO][4321][k3x9q0ab] message. WARN and ERROR carry [errno] after the id, and ERROR ends with
// the errno's text in parentheses. At most kLineMax bytes; the rest is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace live {

enum class LogLevel : std::uint8_t { trace, debug, info, warn, error, off };

// A place in the code that writes lines, so that lines of one kind can be told from others; nullptr: none in particular.
using LogPlace = const void*;

// What became of lines that had to be written.
struct LogCounters {
    std::uint64_t left_out = 0;    // there were too many of their kind
    std::uint64_t lost = 0;        // the disk or the console did not take them, or not in time
    std::size_t memory_bytes = 0;  // held for those that wait to be written
};

// Where lines go. Implemented by the process (file, console), by tests, and by nobody (a null sink).
class LogSink {
public:
    static constexpr std::size_t kLineMax = 8192;

    virtual ~LogSink() = default;
    virtual LogLevel level() const = 0;
    virtual void write(LogLevel level, std::string_view id, std::string_view message, int errno_value) = 0;
    // Whether there is room for one more warning or error of that place and client. Asked before the line is made.
    virtual bool admits(LogPlace, std::string_view) { return true; }
    // A line that was admitted.
    virtual void write_from(LogPlace, LogLevel level, std::string_view id, std::string_view message, int errno_value) {
        write(level, id, message, errno_value);
    }
    virtual LogCounters counters() const { return {}; }
};

class Log {
public:
    // Writes nowhere.
    Log() = default;
    Log(LogSink& sink, std::string id) : sink_(&sink), id_(std::move(id)) {}

    bool enabled(LogLevel level) const { return sink_ != nullptr && level >= sink_->level(); }
    void write(LogLevel level, std::string_view message, int errno_value = 0) const {
        if (enabled(level))
            sink_->write(level, id_, message, errno_value);
    }
    // For the macros: `level` is enabled.
    bool admits(LogLevel level, LogPlace place) const { return level < LogLevel::warn || sink_->admits(place, id_); }
    void write_from(LogPlace place, LogLevel level, std::string_view message) const {
        sink_->write_from(place, level, id_, message, 0);
    }
    LogCounters counters() const { return sink_ == nullptr ? LogCounters() : sink_->counters(); }
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
