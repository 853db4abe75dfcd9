#include "app/start/log_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "base/text/printable.hpp"
#include "base/text/utc_text.hpp"
#include "io/process/sanitizer_reports.hpp"

namespace live::app {

namespace {

constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kEndColour = "\033[0m\n";

std::string_view name_of_level(LogLevel level, LevelNames names) {
    static constexpr std::array<std::string_view, 5> kToday = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR"};
    static constexpr std::array<std::string_view, 5> kClassic = {"Verb", "Info", "Trace", "Warn", "Error"};
    const auto index = std::min<std::size_t>(static_cast<std::size_t>(level), kToday.size() - 1);
    return names == LevelNames::today ? kToday[index] : kClassic[index];
}

std::string time_text(std::chrono::system_clock::time_point time, bool utc) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
    const auto milliseconds =
        std::chrono::duration_cast<std::chrono::milliseconds>(time - std::chrono::floor<std::chrono::seconds>(time)).count();
    std::tm parts{};
    if (utc)
        ::gmtime_r(&seconds, &parts);
    else
        ::localtime_r(&seconds, &parts);
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                       parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds);
}

LogFormat format_of(const LogFile::Options& options) {
    return {options.utc, options.names, options.tank == settings::LogTank::console, options.lines};
}

std::string json_of(const LogLine& line, std::string_view message) {
    static constexpr std::array<std::string_view, 5> kLevels = {"trace", "debug", "info", "warn", "error"};
    nlohmann::ordered_json json = {
        {"time", utc_text(std::chrono::floor<std::chrono::milliseconds>(line.time))},
        {"level", kLevels[std::min<std::size_t>(static_cast<std::size_t>(line.level), kLevels.size() - 1)]},
        {"pid", line.pid},
        {"id", printable(line.id)},
        {"message", printable(message)}};
    if (line.errno_value != 0) {
        json["errno"] = line.errno_value;
        json["error"] = std::generic_category().message(line.errno_value);
    }
    return live::text_of(json) + "\n";
}

// A longer message is cut, until the line with its escapes fits.
std::string format_json_line(const LogLine& line) {
    std::string_view message = line.message.substr(0, LogSink::kLineMax);
    std::string out = json_of(line, message);
    while (out.size() > LogSink::kLineMax) {
        message = message.substr(0, message.size() - std::min(message.size(), (out.size() - LogSink::kLineMax) / 6 + 1));
        out = json_of(line, message);
    }
    return out;
}

}  // namespace

std::string format_log_line(const LogLine& line, const LogFormat& format) {
    if (format.lines == settings::LogLines::json)
        return format_json_line(line);
    std::string out;
    const bool coloured = format.colours && line.level >= LogLevel::warn;
    if (coloured)
        out += line.level == LogLevel::warn ? kYellow : kRed;
    out += fmt::format("[{}][{}][{}][", time_text(line.time, format.utc), name_of_level(line.level, format.names), line.pid);
    out += printable(line.id);
    out += "]";
    if (line.level >= LogLevel::warn)
        out += fmt::format("[{}]", line.errno_value);
    out += " ";
    out += printable(line.message);
    if (line.level >= LogLevel::error && line.errno_value != 0)
        out += fmt::format("({})", std::generic_category().message(line.errno_value));
    const std::string_view ending = coloured ? kEndColour : "\n";
    if (out.size() + ending.size() > LogSink::kLineMax)
        out.resize(LogSink::kLineMax - ending.size());
    out += ending;
    return out;
}

LogLevel log_level_of(const settings::LogOptions& options) {
    if (!options.level_v2.empty()) {
        static constexpr std::array<std::string_view, 5> kToday = {"trace", "debug", "info", "warn", "error"};
        for (std::size_t i = 0; i < kToday.size(); ++i) {
            if (options.level_v2 == kToday[i])
                return static_cast<LogLevel>(i);
        }
    }
    static constexpr std::array<std::string_view, 5> kClassic = {"verbose", "info", "trace", "warn", "error"};
    for (std::size_t i = 0; i < kClassic.size(); ++i) {
        if (options.level == kClassic[i])
            return static_cast<LogLevel>(i);
    }
    return LogLevel::info;
}

io::LineWriter::Rotation rotation_of(const settings::LogOptions& options) {
    return {std::uint64_t{options.max_size} << 20, options.backups};
}

Result<std::unique_ptr<LogFile>> LogFile::create(Options options) {
    const bool is_file = options.tank == settings::LogTank::file;
    io::LineWriter::Options writing;
    writing.thread_name = "log-writer";
    writing.path = is_file ? options.path : "";
    writing.standing = STDOUT_FILENO;
    writing.rotation = options.rotation;
    writing.remark_line = [format = format_of(options)](std::string_view sentence) {
        const std::string message = fmt::format("the log: {}", sentence);
        return format_log_line({std::chrono::system_clock::now(), LogLevel::warn, ::getpid(), "log", message, 0}, format);
    };
    writing.opened = [reports = io::SanitizerReports()](int descriptor) mutable { reports.follow(descriptor); };
    auto writer = io::LineWriter::create(std::move(writing));
    if (!writer.ok())
        return std::move(writer).error().during("the log file");
    return std::make_unique<LogFile>(Private{}, std::move(options), *std::move(writer));
}

void LogFile::write(LogLevel level, std::string_view id, std::string_view message, int errno_value) {
    const LogLine line{std::chrono::system_clock::now(), level, ::getpid(), id, message, errno_value};
    writer_->add(format_log_line(line, format_of(options_)));
    warnings_.add(line.time, level, id, message);
}

LogCounters LogFile::counters() const {
    const io::LineWriter::Counters written = writer_->counters();
    return {throttle_.left_out(), written.lost, written.memory_bytes};
}

bool LogFile::admits(LogLimit limit, LogPlace place, std::string_view id) {
    return throttle_.admits(io::now(), limit, place, id);
}

void LogFile::write_from(LogPlace place, LogLevel level, std::string_view id, std::string_view message, int errno_value) {
    constexpr Duration kSayEvery = std::chrono::seconds(1);
    const auto left_out = throttle_.on_written(place, message);
    if (left_out > 0)
        write(level, id, fmt::format("{} ({} more like this were left out)", message, left_out), errno_value);
    else
        write(level, id, message, errno_value);
    if (const auto now = io::now(); now - said_left_out_ >= kSayEvery)
        say_left_out(now, LogThrottle::kSayAfter);
}

void LogFile::say_left_out(TimePoint now, Duration age) {
    said_left_out_ = now;
    while (const auto left_out = throttle_.take_left_out(now, age))
        write(LogLevel::warn, "log", fmt::format("{} more like this were left out: {}", left_out->lines, left_out->sample), 0);
}

}  // namespace live::app
