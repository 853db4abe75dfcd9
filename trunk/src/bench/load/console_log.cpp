#include "bench/load/console_log.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "bench/measure/load_totals.hpp"

namespace live::bench {

std::string log_text(LogLevel level, std::string_view id, std::string_view message, int errno_value) {
    const std::string_view name = level < LogLevel::warn ? "trace" : level == LogLevel::warn ? "warns" : "error";
    std::string text = fmt::format("[{}][{}] {}", id, name, message);
    if (level >= LogLevel::warn)
        text += fmt::format(" errno={}({})", errno_value, std::strerror(errno_value));
    return text;
}

void ConsoleLog::write(LogLevel level, std::string_view id, std::string_view message, int errno_value) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string line = fmt::format("[{}]{}\n", local_time(std::chrono::duration_cast<std::chrono::microseconds>(now)),
                                         log_text(level, id, message, errno_value));
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), out_));
}

}  // namespace live::bench
