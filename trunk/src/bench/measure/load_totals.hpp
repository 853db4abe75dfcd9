// Totals over all clients of a load, and the lines that show them: the report every --summary seconds, which scripts parse, and a
// row of the CSV file.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/measure/log_histogram.hpp"
#include "bench/measure/media_account.hpp"

namespace live::bench {

struct LoadTotals {
    std::uint64_t clients = 0;  // created
    std::uint64_t started = 0;  // past their first sleep
    std::uint64_t alive = 0;    // with a task in progress
    std::uint64_t alive_at_stop = 0;
    std::uint64_t open = 0;       // play or publish: the server has answered
    std::uint64_t tasks = 0;      // started
    std::uint64_t failed = 0;     // of the tasks
    std::uint64_t finished = 0;   // of the tasks, successfully
    std::uint64_t sub_tasks = 0;  // HLS: fragments started
    std::uint64_t sub_failed = 0;
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::chrono::nanoseconds task_time{};  // total of the finished ones
    std::uint64_t gaps = 0;
    LogHistogram delays;                   // of stamped media, microseconds
    LogHistogram delays_second;            // the same of the present second
    std::uint64_t leader_bytes = 0;        // of the client that has received the most
    std::uint64_t stamps = 0;              // that publishers have sent
    MediaAccount media;                    // sent by all publishers; or received by the first player, if it looks
    std::chrono::microseconds late_max{};  // of publishers, in the present window
};

// "[2024-05-06 07:08:39.123] [report] [4321] threads:100 alive:100 duration:30 tduration:0 nread:20.51 ...". Rates are averages
// since the start, in Mbps. `when` is microseconds since 1970, shown in the machine's own time.
std::string report_line(const LoadTotals& totals, std::chrono::microseconds when, std::int64_t pid,
                        std::chrono::nanoseconds passed);

// "2024-05-06 07:08:39.123".
std::string local_time(std::chrono::microseconds when);

// "starting: 1200 of 5000 clients, 1180 at work, 3 tasks failed".
std::string progress_line(const LoadTotals& totals);

inline constexpr std::string_view kCsvHeader =
    "second,started,alive,tasks,etasks,stasks,estasks,in_mbps,out_mbps,gaps,delays,delay_p50_ms,delay_p99_ms,delay_max_ms\n";
// One second's row: counts since the start, rates and delays of the time since `before` was taken.
std::string csv_row(std::uint64_t second, const LoadTotals& now, const LoadTotals& before, std::chrono::nanoseconds since);

}  // namespace live::bench
