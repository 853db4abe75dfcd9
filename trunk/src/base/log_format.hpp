// The LOG_* macros: format only when the level is on and there is room for the line. Each use is a kind of line of its own.
// Included by .cpp files, never by a header (`make lint` checks it), so that no header of ours pulls a formatting library in.
#pragma once

#include <fmt/format.h>

#include "base/log.hpp"

// The least level that is compiled in; `configure --log-info --log-verbose --log-trace` choose it.
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
