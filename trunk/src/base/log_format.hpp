// The LOG_* macros: they format only when the level is enabled and the line is admitted. Each use is its own kind of line.
// Included by .cpp files, never by a header (`make lint` checks it), so that no header includes a formatting library.
#pragma once

#include <fmt/format.h>

#include "base/log.hpp"

// The lowest level that is compiled in, set by `configure --log-info --log-verbose --log-trace`.
#ifndef LIVE_LOG_FLOOR
#define LIVE_LOG_FLOOR 0
#endif

#define LIVE_LOG(log, level, ...)                                                                                    \
    do {                                                                                                             \
        static constexpr char kLogPlace = 0;                                                                         \
        if (static_cast<int>(level) + 1 > LIVE_LOG_FLOOR && (log).enabled(level) && (log).admits(level, &kLogPlace)) \
            (log).write_from(&kLogPlace, level, fmt::format(__VA_ARGS__));                                           \
    } while (false)
#define LOG_DEBUG(log, ...) LIVE_LOG(log, ::live::LogLevel::debug, __VA_ARGS__)
#define LOG_INFO(log, ...) LIVE_LOG(log, ::live::LogLevel::info, __VA_ARGS__)
#define LOG_WARN(log, ...) LIVE_LOG(log, ::live::LogLevel::warn, __VA_ARGS__)
#define LOG_ERROR(log, ...) LIVE_LOG(log, ::live::LogLevel::error, __VA_ARGS__)
