// The LOG_* macros: they format only when the level is enabled and the line is admitted. Each use is its own kind of line.
// Included by .cpp files, never by a header (`make lint` checks it), so that no header includes a formatting library.
#pragma once

#include <fmt/format.h>

#include "base/log/log.hpp"

// The lowest level that is compiled in, set by `configure --log-info --log-verbose --log-trace`.
#ifndef LIVE_LOG_FLOOR
#define LIVE_LOG_FLOOR 0
#endif

#define LIVE_LOG(log, level, limit, ...)                                                                             \
    do {                                                                                                             \
        static constexpr char kLogPlace = 0;                                                                         \
        if (static_cast<int>(level) + 1 > LIVE_LOG_FLOOR && (log).enabled(level) && (log).admits(limit, &kLogPlace)) \
            (log).write_from(&kLogPlace, level, fmt::format(__VA_ARGS__));                                           \
    } while (false)
#define LOG_DEBUG(log, ...) LIVE_LOG(log, ::live::LogLevel::debug, ::live::LogLimit::none, __VA_ARGS__)
#define LOG_INFO(log, ...) LIVE_LOG(log, ::live::LogLevel::info, ::live::LogLimit::none, __VA_ARGS__)
// For events that one client can cause repeatedly.
#define LOG_INFO_REPEATED(log, ...) LIVE_LOG(log, ::live::LogLevel::info, ::live::LogLimit::of_client, __VA_ARGS__)
#define LOG_WARN(log, ...) LIVE_LOG(log, ::live::LogLevel::warn, ::live::LogLimit::of_all, __VA_ARGS__)
#define LOG_ERROR(log, ...) LIVE_LOG(log, ::live::LogLevel::error, ::live::LogLimit::of_all, __VA_ARGS__)
